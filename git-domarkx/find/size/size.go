// Package size counts the bytes that sessions and workspaces take on the disk: as Git compresses their objects, and in the
// directory of this program's state. It reads each commit and tree once, and no contents.
package size

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// A Kind says what bytes are for.
type Kind uint8

// The kinds of objects.
const (
	none        Kind = iota
	Messages         // what is in sessions, and the commits and trees of snapshots
	Originals        // imported documents, as their programs wrote them
	Attachments      // files that belong to messages
	Versions         // of workspaces
	Trash            // what only removed sessions and workspaces have
	Remotes          // what was fetched and is in no session and no workspace
)

func (k Kind) String() string {
	return [...]string{"", "messages", "originals", "attachments", "versions", "trash", "remotes"}[k]
}

// A Sum counts bytes on the disk.
type Sum struct {
	Only   int64 // that nothing else needs
	Shared int64 // that others need as well
}

// A Use is what one session or workspace needs.
type Use struct {
	Name string
	Sum
	Of map[Kind]int64 // the parts of Only and Shared together
}

// A KindUse is what all objects of a kind need. Shared are those that other references of the repository reach, such as branches.
type KindUse struct {
	Kind Kind
	Sum
}

// A StateUse is the space of a file or directory of this program's state.
type StateUse struct {
	Name  string // in the state directory, with a slash at the end for a directory
	Bytes int64
}

// A Report says what takes the space in a repository. The largest come first.
type Report struct {
	Sessions, Workspaces []Use
	Kinds                []KindUse
	State                []StateUse
}

// Measure counts the bytes in the repository of a store. What only remote-tracking references have in common with a session is not
// shared: it is the same session at a remote. Of sessions, the bytes that other sessions or other references need are shared, and of
// workspaces those that other workspaces or other references need.
func Measure(ctx context.Context, store *gitstore.Store) (*Report, error) {
	g, refs, err := newGraph(ctx, store)
	if err != nil {
		return nil, err
	}
	r := &Report{Kinds: g.kinds()}
	r.Sessions = g.uses(refs[none], refname.Sessions)
	r.Workspaces = g.uses(refs[none], refname.Workspaces)
	r.State, err = state(store.StateDir())
	return r, err
}

// newGraph returns the graph of a repository, and the references in it by kind.
func newGraph(ctx context.Context, store *gitstore.Store) (*graph, map[Kind][]refdb.Ref, error) {
	git := store.Git()
	refs, err := references(ctx, store)
	if err != nil {
		return nil, nil, err
	}
	// A database of its own gets nothing from the remote of a partial clone: objects that are missing take no space.
	db, err := odb.Open(git.ObjectDir, git.Hash)
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	g := &graph{Reader: object.NewReader(db), isVersion: store.IsVersion, numbers: map[odb.ID]int32{}, next: [][]int32{nil}}
	for _, kind := range []Kind{none, Trash, Remotes} {
		for _, ref := range refs[kind] {
			id, err := odb.ParseID(ref.ID)
			if err == nil {
				err = cmp.Or(ctx.Err(), g.add(id, kind))
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	if err := g.readSizes(ctx, git); err != nil {
		return nil, nil, err
	}
	return g, refs, g.markOutside(ctx, git)
}

// references returns the references of this program: those of sessions and workspaces as none, and those in the trash and of remotes.
func references(ctx context.Context, store *gitstore.Store) (map[Kind][]refdb.Ref, error) {
	all, err := store.References(ctx)
	if err != nil {
		return nil, err
	}
	replaced, err := store.ReplacedHistories(ctx)
	if err != nil {
		return nil, err
	}
	byKind := map[Kind][]refdb.Ref{Trash: replaced}
	for _, ref := range all {
		kind := none
		switch {
		case strings.HasPrefix(ref.Name, refname.RemotePrefix):
			kind = Remotes
		case strings.HasPrefix(ref.Name, refname.Sessions.Trash), strings.HasPrefix(ref.Name, refname.Workspaces.Trash):
			kind = Trash
		}
		byKind[kind] = append(byKind[kind], ref)
	}
	// Workspaces come first, so that no object of a version gets its kind from a path.
	slices.SortFunc(byKind[none], func(a, b refdb.Ref) int { return -strings.Compare(a.Name, b.Name) })
	return byKind, nil
}

func (g *graph) kinds() []KindUse {
	sums := map[Kind]Sum{}
	for _, n := range g.nodes {
		if n.kind == none {
			continue
		}
		s := sums[n.kind]
		if n.outside {
			s.Shared += n.bytes
		} else {
			s.Only += n.bytes
		}
		sums[n.kind] = s
	}
	var list []KindUse
	for kind, sum := range sums {
		list = append(list, KindUse{kind, sum})
	}
	slices.SortFunc(list, func(a, b KindUse) int {
		return cmp.Or(cmp.Compare(b.Only+b.Shared, a.Only+a.Shared), strings.Compare(a.Kind.String(), b.Kind.String()))
	})
	return list
}

// uses returns what the sessions or the workspaces need.
func (g *graph) uses(refs []refdb.Ref, of refname.Kind) []Use {
	var uses []Use
	for i := range g.nodes {
		g.nodes[i].owners, g.nodes[i].seen = 0, -1
	}
	for _, ref := range refs {
		if !strings.HasPrefix(ref.Name, of.Prefix) {
			continue
		}
		id, err := odb.ParseID(ref.ID)
		if err != nil {
			continue // newGraph has parsed it
		}
		number := int32(len(uses))
		use := Use{Name: of.Name(ref.Name), Of: map[Kind]int64{}}
		g.reach(id, number, func(n *node) {
			n.owners, n.owner = min(n.owners+1, 2), number
			use.Shared += n.bytes
			use.Of[n.kind] += n.bytes
		})
		uses = append(uses, use)
	}
	for _, n := range g.nodes {
		if n.owners == 1 && !n.outside {
			uses[n.owner].Only += n.bytes
			uses[n.owner].Shared -= n.bytes
		}
	}
	slices.SortFunc(uses, func(a, b Use) int { return cmp.Or(cmp.Compare(b.Only, a.Only), cmp.Compare(a.Name, b.Name)) })
	return uses
}

// state returns the sizes of the entries of the state directory.
func state(dir string) ([]StateUse, error) {
	bytes := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) { // removed meanwhile, or nothing was ever written
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name, _, deep := strings.Cut(filepath.ToSlash(rel), "/")
		if deep {
			name += "/"
		}
		bytes[name] += info.Size()
		return nil
	})
	var list []StateUse
	for name, n := range bytes {
		list = append(list, StateUse{name, n})
	}
	slices.SortFunc(list, func(a, b StateUse) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name)) })
	return list, err
}
