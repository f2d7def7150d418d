package importer

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
)

// linksMore reports whether messages of a document that was imported before name files which only the new version of
// its agent home contains.
func (imp *importer) linksMore(ctx context.Context, in input, doc *domarkx.Document, known sources.Source) (bool, error) {
	if !imp.homes.IsNew(in.home) || imp.fresh[known.Snapshot] {
		return false, nil
	}
	state, err := imp.manager.store.Load(ctx, known.Snapshot)
	if err != nil || len(state.Thread.Live) != len(doc.Conversation) {
		return false, err
	}
	return imp.homes.LinkerOf(in.home, doc).LinksMore(domarkx.EntryList(state.Thread.Live), doc), nil
}
