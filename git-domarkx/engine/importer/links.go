package importer

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
)

// A HomeKeeper finds the homes of programs and stores them (package openpocket).
type HomeKeeper interface {
	// Find finds the homes in the directory top, given the paths of its files. head reads the beginning of a file. If only
	// is not "", Find searches only for homes of the format with that name.
	Find(codecs []format.Codec, only, top string, files []string, head func(path string) ([]byte, error)) []Home
	// Keep stores the contents of homes. It calls warn for each file that it cannot store.
	Keep(ctx context.Context, homes []Home, warn func(error)) (KeptHomes, error)
}

// A Home is a directory with a program's documents and other files ([format.Homes]).
type Home interface {
	// Contains reports whether a path, relative to the directory that the user named, is in the home.
	Contains(name string) bool
	// IsDocument reports whether a file of the home is one of its documents.
	IsDocument(name string, codec format.Codec) bool
}

// KeptHomes are the homes of one import. A nil [Home] is none of them.
type KeptHomes interface {
	// Commit creates a workspace version for each home that changed since its last import, and Done returns these versions.
	Commit(ctx context.Context, tx *transaction.Tx, c engine.Change) error
	Done() []Kept
	// IsNew reports whether the current update creates a version of a home.
	IsNew(at Home) bool
	// LinkerOf returns what links messages of a document to the version of its home; nil if the home was not stored.
	LinkerOf(at Home, doc *domarkx.Document) *edit.Linker
	// Settle makes the stored contents permanent, and Abort discards those that are not.
	Settle() error
	Abort()
}

// A Kept is a program's directory whose files became a new version of a workspace.
type Kept struct {
	Directory string // the directory that the user named, which contains it
	Version   domarkx.Version
}

// KeepsHomes sets what keeps the homes of programs. Without it, an import takes only the documents in them.
func (m *Manager) KeepsHomes(k HomeKeeper) { m.homes = k }

// noHomes are the homes of an import that finds none.
type noHomes struct{}

func (noHomes) Commit(context.Context, *transaction.Tx, engine.Change) error { return nil }
func (noHomes) Done() []Kept                                                 { return nil }
func (noHomes) IsNew(Home) bool                                              { return false }
func (noHomes) LinkerOf(Home, *domarkx.Document) *edit.Linker                { return nil }
func (noHomes) Settle() error                                                { return nil }
func (noHomes) Abort()                                                       {}

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
