package document

import (
	"fmt"
	"iter"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
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
