package engine

import (
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/markdown"
)

// check returns an error for an input that only reads like a session in Markdown, unless the user
// insists that it is one, and adds what is wrong in its blocks to the damage. In a document of a
// session that is there already, a heading of another dialect is content.
func (in *input) check(conv conversation, isNew bool) error {
	if in.codec.Name != string(Markdown) {
		return nil
	}
	n := len(conv.doc.Conversation)
	if conv.messages != nil {
		n = conv.messages.Len()
	}
	found, err := markdown.Check(format.File{Path: in.path, Content: in.content, Size: in.size}, conv.doc.Header, n)
	if err != nil {
		return err
	}
	conv.doc.Damage = append(conv.doc.Damage, found.Blocks...)
	switch {
	case in.insists:
	case found.Alien != nil:
		return found.Alien
	case isNew && found.Dialect != nil:
		return found.Dialect
	}
	return nil
}
