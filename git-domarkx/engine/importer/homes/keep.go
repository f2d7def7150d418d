// Package homes stores the directories of programs such as OpenPocket, which have more than transcripts: memory, scripts and
// screenshots. Each becomes a version of a workspace, which the sessions that are imported from the directory can link.
package homes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/plugins"
)

// A Home is a directory with a program's documents and other files ([format.Homes]). It is inside a directory that the user
// named, and nothing outside that directory is read.
type Home struct {
	format.Home
	codec format.Codec
	top   string // the directory that the user named, as given
	kept  *keptDir
}

// Find finds the homes in the directory top, given the paths of its files. head reads the beginning of a file. If only is not "",
// Find searches only for homes of the format with that name. If several formats claim a path, the first one gets it.
func Find(codecs []format.Codec, only, top string, files []string, head func(path string) ([]byte, error)) []*Home {
	var homes []*Home
	for _, codec := range codecs {
		if codec.Homes == nil || only != "" && only != codec.Name {
			continue
		}
		found := codec.Homes.Find(files, func(file string) []byte {
			data, err := head(filepath.Join(top, filepath.FromSlash(file)))
			if err != nil {
				return nil
			}
			return data
		})
		for _, h := range found {
			if len(h.Parts) > 0 && !slices.ContainsFunc(homes, func(before *Home) bool { return before.Contains(h.Parts[0].From) }) {
				homes = append(homes, &Home{Home: h, codec: codec, top: top})
			}
		}
	}
	return homes
}

// Contains reports whether a path, relative to the directory that the user named, is in a part of the home.
func (h *Home) Contains(name string) bool {
	return slices.ContainsFunc(h.Parts, func(p format.Part) bool {
		return p.From == "." || name == p.From || strings.HasPrefix(name, p.From+"/")
	})
}

// IsDocument reports whether a file of a home is one of its documents. All other files only
// belong to the home, even if they look like documents.
func (h *Home) IsDocument(name string, codec format.Codec) bool {
	return path.Dir(name) == h.Documents && codec.Name == h.codec.Name
}

// A keptDir is a home that is stored as a version of a resource.
type keptDir struct {
	*Home
	key     string
	pending plugins.Pending // the stored contents, until they are settled
	version string          // version of the resource
	paths   map[string]bool // the paths that it contains
	others  bool            // whether it contains more than documents
	stats   map[string]knownFile
	before  record

	made record // the record that the current update creates
	link string // the workspace version to link
	new  bool   // whether this update created that workspace version
}

// A Keeper stores directories of programs as versions of workspaces.
type Keeper struct {
	Store *gitstore.Store
	Env   local.Environment
	// Vacant returns [domarkx.ErrExists] if a directory of this machine already uses the name for a
	// workspace, although no version of that workspace was stored yet.
	Vacant func(ctx context.Context, name string) error
}

// Keep stores the contents of homes that Find has found. It calls warn for each file that it cannot store.
func (m Keeper) Keep(ctx context.Context, homes []*Home, warn func(error)) (_ *Dirs, err error) {
	kept := &Dirs{keeper: m}
	if kept.records, err = local.ReadMap[record](m.recordsFile()); err != nil { // if it is damaged, homes are recognized by their contents
		return nil, fmt.Errorf("reading the record of imported directories: %w", err)
	}
	for _, h := range homes {
		k, err := m.keepHome(ctx, h, kept.records, warn)
		if err != nil {
			kept.Abort()
			return nil, fmt.Errorf("keeping the files of %s: %w", h.top, err)
		}
		if h.kept = k; k != nil {
			kept.all = append(kept.all, k)
		}
	}
	return kept, nil
}

// recordsFile returns the path of the file with the last imports of homes, by the absolute paths of their documents.
func (m Keeper) recordsFile() string { return filepath.Join(m.Env.StateDir, "homes.json") }

// Dirs holds the homes of one import. The zero Dirs has none, and no method needs more.
type Dirs struct {
	keeper  Keeper
	all     []*keptDir
	records map[string]record
}

// A Kept is a program's directory whose files became a new version of a workspace.
type Kept struct {
	Directory string // the directory that the user named, which contains it
	Version   domarkx.Version
}

// Abort discards all stored contents that are not settled.
func (h *Dirs) Abort() {
	for _, k := range h.all {
		k.pending.Abort()
	}
}

// Done returns the workspace versions that the last update created. It is called after each update.
func (h *Dirs) Done() []Kept {
	var made []Kept
	for _, k := range h.all {
		if k.new {
			made = append(made, Kept{Directory: k.top, Version: domarkx.Version{Workspace: k.made.Workspace, ID: k.made.Commit}})
		}
		k.before, k.new = k.made, false
	}
	return made
}

// IsNew reports whether the current update creates a version of a home, which a nil home is not.
func (h *Home) IsNew() bool { return h != nil && h.kept != nil && h.kept.new }

// Settle makes the stored contents permanent and saves the records. It is called when the store has
// the versions.
func (h *Dirs) Settle() error {
	var errs []error
	for _, k := range h.all {
		errs = append(errs, k.pending.Settle())
		h.records[k.key] = k.before
	}
	if len(h.all) > 0 {
		if err := local.WriteMap(h.keeper.recordsFile(), h.records); err != nil {
			errs = append(errs, fmt.Errorf("writing the record of imported directories: %w", err))
		}
	}
	return errors.Join(errs...)
}

// keepHome stores the contents of one home. It returns nil if the home contains only documents.
func (m Keeper) keepHome(ctx context.Context, h *Home, records map[string]record, warn func(error)) (*keptDir, error) {
	top, err := local.CanonicalPath(h.top)
	if err != nil {
		return nil, err
	}
	k := &keptDir{Home: h, key: filepath.Join(top, filepath.FromSlash(h.Documents)), paths: map[string]bool{}, stats: map[string]knownFile{}}
	k.before = records[k.key]
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	base := k.before.Version
	if k.pending, err = m.Env.Workspaces.Begin(ctx, base); errors.Is(err, domarkx.ErrNotFound) {
		k.before.Files = nil
		k.pending, err = m.Env.Workspaces.Begin(ctx, "")
	}
	if err != nil {
		return nil, err
	}
	w := writer{keptDir: k, root: root, to: k.pending, warn: warn}
	if err = w.write(ctx); err == nil && k.others {
		k.version, err = k.pending.Finish(ctx)
	}
	if err != nil || !k.others {
		k.pending.Abort()
		return nil, err
	}
	return k, nil
}

// Commit creates a workspace version for each home that changed since its last import.
func (h *Dirs) Commit(ctx context.Context, tx *transaction.Tx, c engine.Change) error {
	for _, k := range h.all {
		if err := h.commitOne(ctx, tx, c, k); err != nil {
			return fmt.Errorf("keeping the files of %s: %w", k.top, err)
		}
	}
	return nil
}

func (h *Dirs) commitOne(ctx context.Context, tx *transaction.Tx, c engine.Change, k *keptDir) error {
	k.new = false
	k.made = record{Workspace: k.before.Workspace, Version: k.version, Commit: k.before.Commit, Files: k.stats}
	tip, err := h.workspaceFor(ctx, tx, k)
	if err != nil {
		return err
	}
	if k.made.Commit != "" && k.before.Version == k.version {
		k.link = k.made.Commit
		return nil
	}
	spec := domarkx.ResourceSpec{ID: k.codec.Homes.Type, Type: k.codec.Homes.Type,
		Config: transcript.Object("type", k.codec.Homes.Type)}
	version := domarkx.VersionCommit{Resources: []domarkx.ResourceVersion{{ResourceSpec: spec, Version: k.version}}, Operation: c.Operation,
		Subject: "import the files of " + k.codec.Name, Author: c.Author, Committer: c.Committer}
	if tip.ID != "" {
		version.Parents = []string{tip.ID}
	}
	v, err := tx.CommitVersion(ctx, k.made.Workspace, version)
	if err != nil {
		return err
	}
	k.made.Commit, k.link, k.new = v.ID, v.ID, true
	return tx.SetWorkspace(ctx, k.made.Workspace, v.ID)
}

// workspaceFor chooses the workspace for a home, sets k.made.Workspace and returns the workspace's
// newest version.
func (h *Dirs) workspaceFor(ctx context.Context, tx *transaction.Tx, k *keptDir) (domarkx.Version, error) {
	if k.made.Workspace != "" {
		tip, err := tx.WorkspaceTipOrNone(ctx, k.made.Workspace)
		if err != nil {
			return tip, err
		}
		if known, err := h.keeper.Store.IsEarlier(ctx, k.made.Commit, tip.ID); tip.ID != "" && err == nil && known {
			return tip, nil
		}
	}
	k.made.Commit = ""
	wanted := refname.Map(k.Name)
	for n := 1; ; n++ {
		name := wanted
		if n > 1 {
			name = fmt.Sprintf("%s-%d", wanted, n)
		}
		tip, err := tx.WorkspaceTipOrNone(ctx, name)
		if err != nil {
			return tip, err
		}
		if tip.ID != "" { // the record of this home may be lost
			same, err := h.lastImport(ctx, tip.ID, k)
			if same != "" {
				k.made.Workspace, k.made.Commit, k.before.Version = name, same, k.version
			}
			if err != nil || same != "" {
				return tip, err
			}
			continue
		}
		if err := h.isFree(ctx, tx, name); err == nil {
			k.made.Workspace = name
			return domarkx.Version{}, nil
		} else if !errors.Is(err, domarkx.ErrExists) {
			return tip, err
		}
	}
}

// isFree returns domarkx.ErrExists if a new workspace cannot have a name, as that of a session, which would use the workspace.
func (h *Dirs) isFree(ctx context.Context, tx *transaction.Tx, name string) error {
	session, err := tx.TipOrNone(ctx, name)
	if err == nil && session.ID != "" {
		err = domarkx.ErrExists
	}
	if err == nil {
		err = tx.CheckWorkspaceName(ctx, name)
	}
	if err == nil {
		err = h.keeper.Vacant(ctx, name)
	}
	return err
}

// lastImport finds the newest version in the history of tip that an import created. It returns that
// version's id if it contains exactly this home, and "" otherwise.
func (h *Dirs) lastImport(ctx context.Context, tip string, k *keptDir) (string, error) {
	for v, err := range h.keeper.Store.Versions(ctx, tip) {
		if err != nil {
			return "", err
		}
		if v.Operation != "import" {
			continue
		}
		whole, err := h.keeper.Store.VersionOrStub(ctx, v.ID)
		if err != nil {
			return "", err
		}
		if len(whole.Resources) == 1 && whole.Resources[0].Type == k.codec.Homes.Type && whole.Resources[0].Version == k.version {
			return v.ID, nil
		}
		return "", nil
	}
	return "", nil
}

// Linker returns a linker that links messages of a document to the version of its home. It returns nil if the home is nil or was
// not stored.
func (h *Home) Linker(doc *domarkx.Document) *edit.Linker {
	if h == nil || h.kept == nil {
		return nil
	}
	k := h.kept
	return &edit.Linker{Version: k.link, Wants: func(m domarkx.Message) bool {
		return k.codec.Homes.Names(doc.Header, m, func(name string) bool { return k.paths[name] })
	}}
}
