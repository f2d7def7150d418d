package importer

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
)

// linksMore reports whether messages of a document that was imported before name files which only the new version of
// its agent home contains.
func (imp *importer) linksMore(ctx context.Context, in input, doc *domarkx.Document, known sources.Source) (bool, error) {
	if !in.home.IsNew() || imp.fresh[known.Snapshot] {
		return false, nil
	}
	state, err := imp.manager.store.Load(ctx, known.Snapshot)
	if err != nil || len(state.Thread.Live) != len(doc.Conversation) {
		return false, err
	}
	e := edit.Edit{Doc: doc, Links: edit.Links{Linker: in.home.Linker(doc)}}
	return e.LinksMore(domarkx.EntryList(state.Thread.Live))
}

// A linkRequest asks an import to turn the versions that messages state into links.
type linkRequest struct {
	manager   *Manager
	workspace string                     // name of a workspace; "" for that of each session
	versions  map[string]map[string]bool // ids of the versions, by workspace
}

// linkRequest returns what an import is to link, or nil if the user did not ask for links. It returns
// domarkx.ErrNotFound if the workspace that the user named does not exist.
func (m *Manager) linkRequest(ctx context.Context, r Request) (*linkRequest, error) {
	if !r.Links && r.LinksOf == "" {
		return nil, nil
	}
	if r.LinksOf != "" {
		if _, err := m.store.WorkspaceTip(ctx, r.LinksOf); err != nil {
			return nil, fmt.Errorf("linking to versions of the workspace %q: %w", r.LinksOf, err)
		}
	}
	return &linkRequest{manager: m, workspace: r.LinksOf, versions: map[string]map[string]bool{}}, nil
}

// of returns the versions to which messages of documents of a session may be linked.
func (r *linkRequest) of(ctx context.Context, session string) (*edit.StatedLinks, error) {
	if r == nil {
		return nil, nil
	}
	workspace := r.workspace
	if workspace == "" {
		var err error
		if workspace, err = r.manager.sessions.WorkspaceOf(ctx, session); err != nil {
			return nil, err
		}
	}
	if r.versions[workspace] == nil {
		ids := map[string]bool{}
		tip, err := r.manager.store.WorkspaceTipOrNone(ctx, workspace)
		if err != nil {
			return nil, err
		}
		if tip.ID != "" {
			for v, err := range r.manager.store.Versions(ctx, tip.ID) {
				if err != nil {
					return nil, err
				}
				ids[v.ID] = true
			}
		}
		r.versions[workspace] = ids
	}
	return edit.NewStatedLinks(workspace, r.versions[workspace]), nil
}
