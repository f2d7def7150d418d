package version

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A Writer is a version of a resource that is being written:
//
//	b, err := s.Begin(ctx, base)
//	defer b.Abort()
//	id, _, err := b.Content(ctx, r)   // from any number of goroutines
//	err = b.Add(ctx, path, file)      // from one
//	version, err := b.Finish(ctx)     // now a commit may name it
//	…                                 // move the refs
//	err = b.Settle()                  // now the change may be acknowledged
//
// It implements [domarkx.VersionWriter]. Nobody is locked out meanwhile. Of what
// the base has nothing is written again.
type Writer struct {
	store  Store
	batch  *odb.Batch
	second *odb.Batch // what was found to be different after the batch was written
	known  knownContent
	links  linkGroups

	top   []odb.TreeEntry // of the base
	base  odb.ID
	stack []*openFolder // the top first
	free  [][]child     // of folders that were closed
	added int           // files, without those of folders that were kept
	root  odb.ID        // of the top, once that is written
	err   error         // of an Add; nothing works after it
}

// An openFolder is a folder that files may still be added to.
type openFolder struct {
	path     string
	at       int // in the children of the folder above
	children []child
	baseID   odb.ID // the same folder in the base; zero for none
	base     []odb.TreeEntry
	next     int  // in base, likely to be the next name
	large    bool // whether base has chunk trees
}

func newFolder(path string, at int, baseID odb.ID, base []odb.TreeEntry) *openFolder {
	i, _ := slices.BinarySearchFunc(base, odb.TreeEntry{Name: chunksPrefix}, odb.CompareEntries)
	large := i < len(base) && strings.HasPrefix(base[i].Name, chunksPrefix)
	return &openFolder{path: path, at: at, baseID: baseID, base: base, large: large}
}

// Begin starts a version of a resource. base is an earlier version of it, which
// a reference reaches, or "" for none; one that is not there is
// [domarkx.ErrNotFound].
func (s Store) Begin(ctx context.Context, base string) (*Writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := &Writer{store: s}
	if base != "" {
		var err error
		if b.base, err = odb.ParseID(base); err == nil {
			b.top, err = s.db.Tree(b.base)
		}
		if err != nil {
			return nil, fmt.Errorf("base version %q: %w", base, err)
		}
	}
	b.batch = s.db.Begin()
	b.known.begin(s, b.base, b.batch)
	return b, nil
}

var (
	_ domarkx.VersionWriter = (*Writer)(nil)
	_ domarkx.FolderKeeper  = (*Writer)(nil)
	_ domarkx.PartWriter    = (*Writer)(nil)
)

// Add adds the file at a path. It is for one goroutine at a time. See
// [domarkx.VersionWriter]; that a name is there twice may be found out later, by
// another Add or by Finish. After an error other than [domarkx.ErrNotFound] the batch
// can only be aborted.
func (b *Writer) Add(ctx context.Context, path string, f domarkx.File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.err != nil {
		return b.err
	}
	err := b.add(path, f)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s %s: %w", f.Type, QuotePath(path), err)
	if !errors.Is(err, domarkx.ErrNotFound) {
		b.err = err
	}
	return err
}

var errOrder = fmt.Errorf("%w: it does not come in the order of a walk", domarkx.ErrInvalid)

func (b *Writer) add(path string, f domarkx.File) error {
	if !b.root.IsZero() {
		return errors.New("the version is written already")
	}
	if b.added++; b.added > maxFiles+1 { // with the top folder
		return fmt.Errorf("%w: more than %d files come before it", domarkx.ErrInvalid, maxFiles)
	}
	c := child{File: f}
	if err := c.normalize(); err != nil {
		return err
	}
	if path == "" {
		if len(b.stack) > 0 || f.Type != domarkx.Directory {
			return errOrder
		}
		// The top folder is the only child of what holds it.
		b.stack = append(b.stack, &openFolder{children: []child{c}}, newFolder("", 0, b.base, b.top))
		return nil
	}
	in, name, err := b.goTo(path)
	if err != nil {
		return err
	}
	c.Name = name
	if c.Type == domarkx.Directory {
		if len(b.stack)-1 > MaxDepth {
			return fmt.Errorf("%w: it is more than %d folders deep", domarkx.ErrInvalid, MaxDepth)
		}
		old := in.inBase(treeName(name, false), odb.ModeTree)
		var entries []odb.TreeEntry
		if !old.ID.IsZero() {
			var err error
			if entries, err = b.store.db.Tree(old.ID); err != nil {
				return fmt.Errorf("%w: the base cannot be read: %v", domarkx.ErrCorrupt, err) // not ErrNotFound, which is about this file
			}
		}
		open := newFolder(path, len(in.children), old.ID, entries)
		if n := len(b.free); n > 0 {
			open.children, b.free = b.free[n-1], b.free[:n-1]
		}
		b.stack = append(b.stack, open)
		in.children = append(in.children, c)
		return nil
	}
	if err := b.resolve(in, &c); err != nil {
		return err
	}
	if c.HardLink != "" {
		if err := b.links.add(path, &c); err != nil {
			return err
		}
	}
	in.children = append(in.children, c)
	return nil
}

// goTo closes folders until the one that a path lies in is the last open one, and
// returns it with the name in it.
func (b *Writer) goTo(path string) (in *openFolder, name string, err error) {
	parent, name := "", path
	if i := strings.LastIndexByte(path, '/'); i > 0 { // a path that begins with a slash is refused as a name
		parent, name = path[:i], path[i+1:]
	}
	if err := checkName(name); err != nil {
		return nil, "", err
	}
	for len(b.stack) > 2 && b.stack[len(b.stack)-1].path != parent {
		if err := b.closeFolder(); err != nil {
			return nil, "", err
		}
	}
	if len(b.stack) < 2 || b.stack[len(b.stack)-1].path != parent {
		return nil, "", errOrder
	}
	return b.stack[len(b.stack)-1], name, nil
}

// Keep adds a folder with what the base has below its path. See
// [domarkx.FolderKeeper] and, for what else it may return, Add.
func (b *Writer) Keep(ctx context.Context, path string, f domarkx.File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.err != nil {
		return b.err
	}
	kept, err := b.keep(path, f)
	if err == nil && !kept {
		return fmt.Errorf("folder %s of the base: %w", QuotePath(path), domarkx.ErrNotFound)
	}
	if err != nil {
		b.err = fmt.Errorf("folder %s: %w", QuotePath(path), err)
	}
	return b.err
}

func (b *Writer) keep(path string, f domarkx.File) (bool, error) {
	if !b.root.IsZero() {
		return false, errors.New("the version is written already")
	}
	c := child{File: f}
	if err := c.normalize(); err != nil {
		return false, err
	}
	if f.Type != domarkx.Directory || path == "" {
		return false, errOrder
	}
	in, name, err := b.goTo(path)
	if err != nil {
		return false, err
	}
	old := in.inBase(treeName(name, false), odb.ModeTree)
	if old.ID.IsZero() {
		return false, nil
	}
	c.Name, c.object = name, old.ID
	in.children = append(in.children, c)
	return true, nil
}

// inBase returns the entry of the base's folder, or a zero one.
func (o *openFolder) inBase(name string, mode uint32) odb.TreeEntry {
	if len(o.base) == 0 {
		return odb.TreeEntry{}
	}
	want := odb.TreeEntry{Name: name, Mode: mode}
	if o.next >= len(o.base) || o.base[o.next].Name != name {
		i, ok := slices.BinarySearchFunc(o.base, want, odb.CompareEntries)
		if !ok {
			return odb.TreeEntry{}
		}
		o.next = i
	}
	e := o.base[o.next]
	o.next++
	if e.IsTree() != want.IsTree() {
		return odb.TreeEntry{}
	}
	return e
}

// maxFree is the number of children from which on their memory is not used again.
const maxFree = 4096

// closeFolder writes the last open folder, whose id its entry above gets.
func (b *Writer) closeFolder() error {
	last := b.stack[len(b.stack)-1]
	b.stack = b.stack[:len(b.stack)-1]
	above := b.stack[len(b.stack)-1]
	var self *domarkx.File
	if len(b.stack) == 1 {
		self = &above.children[0].File
	}
	id, err := writeFolder(b.batch, self, last.children, last.baseID, last.base)
	above.children[last.at].object = id
	if cap(last.children) <= maxFree {
		clear(last.children)
		b.free = append(b.free, last.children[:0])
	}
	return err
}

// writeFolder stores the tree of a folder, and its sidecar, unless they are the
// base's.
func writeFolder(batch *odb.Batch, self *domarkx.File, children []child, baseID odb.ID, base []odb.TreeEntry) (odb.ID, error) {
	if !slices.IsSortedFunc(children, compareChildren) {
		slices.SortFunc(children, compareChildren)
	}
	for i := 1; i < len(children); i++ {
		if children[i].Name == children[i-1].Name {
			return odb.ID{}, fmt.Errorf("%w: %q is there twice", domarkx.ErrInvalid, children[i].Name)
		}
	}
	var sidecar odb.ID
	if data := encodeSidecar(self, children); data != nil {
		if len(data) > maxSidecar {
			return odb.ID{}, fmt.Errorf("%w: what Git cannot hold of a folder's files takes more than %d MiB", domarkx.ErrInvalid, maxSidecar>>20)
		}
		sidecar = odb.Sum(odb.Blob, data)
		if odb.FindEntry(base, sidecarName).ID != sidecar {
			if _, err := batch.Add(odb.Blob, data); err != nil {
				return odb.ID{}, err
			}
		}
	}
	entries := folderEntries(children, sidecar)
	if slices.Equal(entries, base) {
		return baseID, nil
	}
	return batch.AddTree(entries)
}

// Finish writes the version and makes it durable. No reference holds it yet: until
// [Writer.Settle] it is safe from collections only as the objects of an
// [odb.Batch] are. A version to which nothing was added is that of an empty folder.
func (b *Writer) Finish(ctx context.Context) (version string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if b.err != nil {
		return "", b.err
	}
	if b.root.IsZero() {
		if len(b.stack) == 0 {
			if err := b.Add(ctx, "", domarkx.File{Type: domarkx.Directory, Mode: modeFolder}); err != nil {
				return "", err
			}
		}
		for len(b.stack) > 1 {
			if b.err = b.closeFolder(); b.err != nil {
				return "", b.err
			}
		}
		b.root = b.stack[0].children[0].object
		if err := b.batch.Sync(); err != nil {
			b.err = fmt.Errorf("store objects: %w", err)
			return "", b.err
		}
		if b.err = b.relink(ctx); b.err != nil {
			return "", b.err
		}
	}
	return b.root.String(), nil
}

// Settle is called after references reach the version: see [odb.Batch.Settle].
func (b *Writer) Settle() error {
	err := b.batch.Settle()
	if b.second != nil {
		err = errors.Join(err, b.second.Settle())
	}
	if err != nil {
		return fmt.Errorf("store objects: %w", err)
	}
	return nil
}

// Abort ends the batch unless it has ended: see [odb.Batch.Abort].
func (b *Writer) Abort() {
	b.batch.Abort()
	if b.second != nil {
		b.second.Abort()
	}
}
