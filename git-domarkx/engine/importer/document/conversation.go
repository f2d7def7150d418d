package document

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// A Conversation is one conversation of a document.
type Conversation struct {
	Suffix   string // see [format.Stream]
	Doc      *domarkx.Document
	Messages format.Messages // messages of the conversation, if Doc does not contain them
	State    string
	Read     int64
}

// Conversations reads the conversations of a document in a format. The first one is the main conversation. Images in the
// messages of an agent's transcript are files ([EachImage]).
func (c *Content) Conversations(codec format.Codec, path string, include func(string) ([]byte, error)) iter.Seq2[Conversation, error] {
	return func(yield func(Conversation, error) bool) {
		if codec.Open == nil {
			data, err := c.Data(c.Size)
			if err != nil {
				yield(Conversation{}, fmt.Errorf("%s: %w", path, err))
				return
			}
			doc, err := codec.Decode(format.Source{Path: path, Data: data, Include: include})
			yield(Conversation{Doc: doc}, err)
			return
		}
		for s, err := range codec.Open(format.File{Path: path, Content: c, Size: c.Size, Include: include}) {
			if all, ok := s.Messages.(transcriptMessages); ok && codec.Images {
				s.Messages = pictures{transcriptMessages: all}
			}
			doc := &domarkx.Document{Header: s.Header, Preamble: s.Preamble, Includes: s.Includes, Damage: s.Damage}
			if !yield(Conversation{s.Suffix, doc, s.Messages, s.State, s.Read}, err) || err != nil {
				return
			}
		}
	}
}

// dataPicture matches a line of Markdown that is an image whose URL contains its content (data:).
var dataPicture = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^!\[image\]\(data:image/([a-z]+);base64,([A-Za-z0-9+/]+=*)\)$`)
})

// A transcriptMessages is a list of messages whose places in the document are known, and which several conversations may share.
type transcriptMessages interface {
	format.Placed
	format.Shared
}

// pictures are the messages of a transcript, with the images in them replaced by files of the session. A file's name
// follows from its content.
type pictures struct {
	transcriptMessages
	// keep is called for each image; nil ignores them.
	keep func(path string, content []byte) error
}

// At returns message k.
func (p pictures) At(k int) (domarkx.WrittenMessage, error) {
	m, err := p.transcriptMessages.At(k)
	if err == nil {
		err = ImagesAsFiles(&m, p.keep)
	}
	return m, err
}

// EachImage calls keep for each image in messages that [Content.Conversations] returned.
func EachImage(messages format.Messages, keep func(path string, content []byte) error) error {
	p, ok := messages.(pictures)
	if p.keep = keep; !ok {
		return nil
	}
	for k := range p.Len() {
		if _, err := p.At(k); err != nil {
			return err
		}
	}
	return nil
}

// ImagesAsFiles replaces the images in a message by files, and calls keep for each.
func ImagesAsFiles(m *domarkx.WrittenMessage, keep func(path string, content []byte) error) error {
	var failed error
	for i, b := range m.Content {
		if b.Type != domarkx.TextBlock || !strings.Contains(b.Text, "](data:image/") {
			continue
		}
		m.Content[i].Text = dataPicture().ReplaceAllStringFunc(b.Text, func(s string) string {
			found := dataPicture().FindStringSubmatch(s)
			content, err := base64.StdEncoding.DecodeString(found[2])
			if err != nil || len(content) > engine.MaxFileSize || !engine.IsImage(content) {
				return s
			}
			sum := sha256.Sum256(content)
			path := fmt.Sprintf("%s/%s.%s", engine.ImageDir, hex.EncodeToString(sum[:16]), found[1])
			if keep != nil && failed == nil {
				failed = keep(path, content)
			}
			return "![image](" + path + ")"
		})
	}
	return failed
}
