package importer

import (
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// check returns an error for an input that only resembles a Markdown session, unless the user named the format. It adds
// problems in blocks to the damage. If the document belongs to an existing session, a heading in another dialect is
// content and no problem.
func (in *input) check(conv conversation, isNew bool) error {
	if in.codec.Name != string(engine.Markdown) {
		return nil
	}
	n := len(conv.doc.Conversation)
	if conv.messages != nil {
		n = conv.messages.Len()
	}
	found, err := markdown.Check(format.File{Path: in.path, Content: in.ReaderAt, Size: in.size}, conv.doc.Header, n)
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

// ignored reports whether the request leaves out conversations with the title in a header.
func (imp *importer) ignored(h *domarkx.Header) bool {
	if imp.ignore == nil || h.UserMetadata == nil {
		return false
	}
	title, ok := h.UserMetadata.Get("title")
	return ok && imp.ignore(title.Text())
}
