package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
)

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
		err = withPictures(&m, p.keep)
	}
	return m, err
}

// pictured returns the messages of a document with their images as files, if documents of the format contain images.
func pictured(codec format.Codec, messages format.Messages) format.Messages {
	if all, ok := messages.(transcriptMessages); ok && codec.Images {
		return pictures{transcriptMessages: all}
	}
	return messages
}

// withPictures replaces the images in a message by files.
func withPictures(m *domarkx.WrittenMessage, keep func(path string, content []byte) error) error {
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

// attachPictures stores the images of a transcript that the snapshot base does not have, and returns them.
func (imp *importer) attachPictures(ctx context.Context, in input, messages format.Messages, filter transaction.Filter, base string) ([]domarkx.AttachedFile, []domarkx.Attachment, error) {
	p, ok := messages.(pictures)
	if !ok || !in.images {
		return nil, nil, nil
	}
	kept, err := imp.newPictures(ctx, filter, base)
	if err != nil {
		return nil, nil, err
	}
	p.keep = kept.keep
	for k := range p.Len() {
		if _, err := p.At(k); err != nil {
			return nil, nil, err
		}
	}
	return kept.files, kept.contents, nil
}

// A pictureSet collects the images that a snapshot does not have.
type pictureSet struct {
	tx       *transaction.Tx
	ctx      context.Context
	filter   transaction.Filter
	seen     map[string]bool
	files    []domarkx.AttachedFile
	contents []domarkx.Attachment
}

// newPictures returns an empty set. base is the snapshot whose images are not collected, or "" for none.
func (imp *importer) newPictures(ctx context.Context, filter transaction.Filter, base string) (*pictureSet, error) {
	s := &pictureSet{tx: imp.tx, ctx: ctx, filter: filter, seen: map[string]bool{}}
	if base == "" || imp.fresh[base] { // a snapshot of this update cannot be read; storing its files again takes no space
		return s, nil
	}
	before, err := imp.tx.Files(ctx, base)
	for _, f := range before {
		s.seen[f.Path] = true
	}
	return s, err
}

func (s *pictureSet) keep(path string, content []byte) error {
	if s.seen[path] || len(s.files) == maxFilesCount {
		return nil
	}
	s.seen[path] = true
	a, size, err := s.tx.StoreAttachment(s.ctx, s.filter, bytes.NewReader(content))
	s.files = append(s.files, domarkx.AttachedFile{Path: path, SHA256: a.SHA256, Size: size})
	s.contents = append(s.contents, a)
	return err
}
