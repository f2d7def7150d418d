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

// A Writer writes a version of a resource:
//
//	b, err := s.Begin(ctx, base)
//	defer b.Abort()
//	id, _, err := b.Content(ctx, r)   // from several goroutines
//	err = b.Add(ctx, path, file)      // from one goroutine
//	version, err := b.Finish(ctx)     // now a commit may name it
//	…                                 // move the refs
//	err = b.Settle()                  // now the change may be acknowledged
//
// It implements [domarkx.VersionWriter]. It holds no lock. Unchanged parts of the base are not
// written again.
type Writer struct {
	store  Store
	batch  *odb.Batch
	second *odb.Batch // changes after the first batch was written
	known  knownContent
	links  linkGroups

	top   []odb.TreeEntry // of the base
	base  odb.ID
	stack []*openDirectory // the top first
	free  [][]child        // of closed directories
	added int              // number of files, without those of kept directories
	root  odb.ID           // of the top, once it is written
	err   error            // of an Add; later calls return it too
}

// An openDirectory is a directory to which files may still be added.
type openDirectory struct {
	path     string
	at       int // index in the children of the parent
	children []child
	baseID   odb.ID // the same directory in the base; zero for none
	base     []odb.TreeEntry
	next     int  // index in base, probably of the next name
	large    bool // whether base has chunk trees
}

func newDirectory(path string, at int, baseID odb.ID, base []odb.TreeEntry) *openDirectory {
	i, _ := slices.BinarySearchFunc(base, odb.TreeEntry{Name: chunksPrefix}, odb.CompareEntries)
	large := i < len(base) && strings.HasPrefix(base[i].Name, chunksPrefix)
	return &openDirectory{path: path, at: at, baseID: baseID, base: base, large: large}
}

// Begin starts a version of a resource. base is an earlier version that a reference reaches, or "" for
// none. A missing base is [domarkx.ErrNotFound].
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
	_ domarkx.VersionWriter   = (*Writer)(nil)
	_ domarkx.DirectoryKeeper = (*Writer)(nil)
	_ domarkx.PartWriter      = (*Writer)(nil)
)

// Add adds the file at a path. It must not be called from several goroutines at once. See
// [domarkx.VersionWriter]. A duplicate name may be reported by a later Add or by Finish. After an
// error other than [domarkx.ErrNotFound] the batch can only be aborted.
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

var errOrder = fmt.Errorf("%w: it is not in the order of a walk", domarkx.ErrInvalid)

func (b *Writer) add(path string, f domarkx.File) error {
	if !b.root.IsZero() {
		return errors.New("the version is already written")
	}
	if b.added++; b.added > maxFiles+1 { // including the top directory
		return fmt.Errorf("%w: a version can have at most %d files", domarkx.ErrInvalid, maxFiles)
	}
	c := child{File: f}
	if err := c.normalize(); err != nil {
		return err
	}
	if path == "" {
		if len(b.stack) > 0 || f.Type != domarkx.Directory {
			return errOrder
		}
		// The top directory is the only child of an imaginary one.
		b.stack = append(b.stack, &openDirectory{children: []child{c}}, newDirectory("", 0, b.base, b.top))
		return nil
	}
	in, name, err := b.goTo(path)
	if err != nil {
		return err
	}
	c.Name = name
	if c.Type == domarkx.Directory {
		if len(b.stack)-1 > MaxDepth {
			return fmt.Errorf("%w: it is nested in more than %d directories", domarkx.ErrInvalid, MaxDepth)
		}
		old := in.inBase(treeName(name, false), odb.ModeTree)
		var entries []odb.TreeEntry
		if !old.ID.IsZero() {
			var err error
			if entries, err = b.store.db.Tree(old.ID); err != nil {
				return fmt.Errorf("%w: the base cannot be read: %v", domarkx.ErrCorrupt, err) // not ErrNotFound, which means that the content of this file is missing
			}
		}
		open := newDirectory(path, len(in.children), old.ID, entries)
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

// goTo closes directories until the last open one contains path. It returns that directory and the
// file's name in it.
func (b *Writer) goTo(path string) (in *openDirectory, name string, err error) {
	parent, name := "", path
	if i := strings.LastIndexByte(path, '/'); i > 0 { // a path that begins with a slash is rejected as a name
		parent, name = path[:i], path[i+1:]
	}
	if err := checkName(name); err != nil {
		return nil, "", err
	}
	for len(b.stack) > 2 && b.stack[len(b.stack)-1].path != parent {
		if err := b.closeDirectory(); err != nil {
			return nil, "", err
		}
	}
	if len(b.stack) < 2 || b.stack[len(b.stack)-1].path != parent {
		return nil, "", errOrder
	}
	return b.stack[len(b.stack)-1], name, nil
}

// Keep adds a directory with the contents that the base has at its path. See
// [domarkx.DirectoryKeeper]; further errors are those of Add.
func (b *Writer) Keep(ctx context.Context, path string, f domarkx.File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.err != nil {
		return b.err
	}
	kept, err := b.keep(path, f)
	if err == nil && !kept {
		return fmt.Errorf("directory %s of the base: %w", QuotePath(path), domarkx.ErrNotFound)
	}
	if err != nil {
		b.err = fmt.Errorf("directory %s: %w", QuotePath(path), err)
	}
	return b.err
}

func (b *Writer) keep(path string, f domarkx.File) (bool, error) {
	if !b.root.IsZero() {
		return false, errors.New("the version is already written")
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

// inBase returns the entry of the base's directory, or a zero one.
func (o *openDirectory) inBase(name string, mode uint32) odb.TreeEntry {
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

// maxFree is the number of children from which on their memory is not reused.
const maxFree = 4096

// closeDirectory writes the last open directory, and sets its id in the parent.
func (b *Writer) closeDirectory() error {
	last := b.stack[len(b.stack)-1]
	b.stack = b.stack[:len(b.stack)-1]
	above := b.stack[len(b.stack)-1]
	var self *domarkx.File
	if len(b.stack) == 1 {
		self = &above.children[0].File
	}
	id, err := writeDirectory(b.batch, self, last.children, last.baseID, last.base)
	above.children[last.at].object = id
	if cap(last.children) <= maxFree {
		clear(last.children)
		b.free = append(b.free, last.children[:0])
	}
	return err
}

// writeDirectory stores the tree of a directory and its sidecar, unless the base has the same.
func writeDirectory(batch *odb.Batch, self *domarkx.File, children []child, baseID odb.ID, base []odb.TreeEntry) (odb.ID, error) {
	if !slices.IsSortedFunc(children, compareChildren) {
		slices.SortFunc(children, compareChildren)
	}
	for i := 1; i < len(children); i++ {
		if children[i].Name == children[i-1].Name {
			return odb.ID{}, fmt.Errorf("%w: duplicate name %q", domarkx.ErrInvalid, children[i].Name)
		}
	}
	var sidecar odb.ID
	if data := encodeSidecar(self, children); data != nil {
		if len(data) > maxSidecar {
			return odb.ID{}, fmt.Errorf("%w: the attributes of a directory.s files need a sidecar of more than %d MiB", domarkx.ErrInvalid, maxSidecar>>20)
		}
		sidecar = odb.Sum(odb.Blob, data)
		if odb.FindEntry(base, sidecarName).ID != sidecar {
			if _, err := batch.Add(odb.Blob, data); err != nil {
				return odb.ID{}, err
			}
		}
	}
	entries := directoryEntries(children, sidecar)
	if slices.Equal(entries, base) {
		return baseID, nil
	}
	return batch.AddTree(entries)
}

// Finish writes the version and makes it durable. No reference reaches it yet: until [Writer.Settle],
// its batch protects it from collection. A version without files is an empty directory.
func (b *Writer) Finish(ctx context.Context) (version string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if b.err != nil {
		return "", b.err
	}
	if b.root.IsZero() {
		if len(b.stack) == 0 {
			if err := b.Add(ctx, "", domarkx.File{Type: domarkx.Directory, Mode: modeDirectory}); err != nil {
				return "", err
			}
		}
		for len(b.stack) > 1 {
			if b.err = b.closeDirectory(); b.err != nil {
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

// Settle must be called after references reach the version; see [odb.Batch.Settle].
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

// Abort ends the batch if it has not ended; see [odb.Batch.Abort].
func (b *Writer) Abort() {
	b.batch.Abort()
	if b.second != nil {
		b.second.Abort()
	}
}
