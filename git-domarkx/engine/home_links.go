package engine

import (
	"context"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
)

// linkerOf returns a linker from messages of a document to the version of its home, or nil if the
// document has no home.
func (h *keptHomes) linkerOf(in input, doc *domarkx.Document) *linker {
	k := h.of[in.home]
	if k == nil {
		return nil
	}
	return &linker{version: k.link, wants: func(m domarkx.Message) bool { return k.codec.Homes.Names(doc.Header, m, k.has) }}
}

// A linker links messages to the workspace version that contains the files that they name.
type linker struct {
	version string
	wants   func(m domarkx.Message) bool
}

// link returns the version to link a message to, or "" for none. A nil linker returns "".
func (l *linker) link(m domarkx.Message) string {
	if l == nil || !l.wants(m) {
		return ""
	}
	return l.version
}

// linksMore reports whether messages of an unchanged document name files that only the new
// version of its home contains.
func (l *linker) linksMore(live domarkx.Entries, doc *domarkx.Document) bool {
	if l == nil {
		return false
	}
	for i := range live.Len() {
		if live.At(i).Link == "" && l.wants(doc.Conversation[i].Message) {
			return true
		}
	}
	return false
}

// linksMore reports whether messages of a document that was imported before name files that only
// the new version of its home contains.
func (imp *importer) linksMore(ctx context.Context, in input, doc *domarkx.Document, known source) (bool, error) {
	if !imp.homes.isNew(in.home) || imp.fresh[known.Snapshot] {
		return false, nil
	}
	state, err := imp.manager.store.Load(ctx, known.Snapshot)
	if err != nil || len(state.Thread.Live) != len(doc.Conversation) {
		return false, err
	}
	return imp.homes.linkerOf(in, doc).linksMore(domarkx.EntryList(state.Thread.Live), doc), nil
}

// MadeElsewhere returns a function that reports whether another program made a call of a message.
// This holds for calls of resources that are missing from the version that an import linked.
func (m *SessionManager) MadeElsewhere(ctx context.Context, link string) (func(call domarkx.Block) bool, error) {
	here := func(domarkx.Block) bool { return false }
	if link == "" {
		return here, nil
	}
	v, err := m.store.Version(ctx, link)
	if err != nil || v.Operation != "import" {
		return here, err
	}
	return func(call domarkx.Block) bool {
		asked, err := toolcall.Parse(call.Text)
		return err == nil && call.Language == toolcall.Language && ResourceVersion(v.Resources, asked.Resource) == ""
	}, nil
}
