package version

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A Writer writes a version of a resource:
//
//	b, err := s.Begin(ctx, base)
//	defer b.Abort()
//	id, _, err := b.Content(ctx, r)   // from several goroutines
//	err = b.Add(ctx, path, file)      // from one goroutine
//	version, err := b.Finish(ctx)     // now a commit may contain the version
//	…                                 // move refs to that commit
//	err = b.Settle()                  // refs now protect the version
//
// It implements [domarkx.VersionWriter]. It holds no lock, and does not write directories and files again that the base
// contains.
type Writer struct {
	store Reader
	batch *odb.Batch
	known knownContent
	links map[string][]string // first path of a file → its hard links

	top   []odb.TreeEntry // entries of the base's top directory
	base  odb.ID
	stack []*openDirectory // the directories that contain the next file, the outermost first
	added int              // number of files, without those of kept directories
	files bound            // of added
	root  odb.ID           // the version's id; zero until it is written
	err   error            // the first error that later calls return too
}

// An openDirectory is a directory to which files may still be added.
type openDirectory struct {
	path     string
	at       int // index in the children of the parent
	children []child
	baseID   odb.ID          // the directory at the same path in the base; zero for none
	base     []odb.TreeEntry // its entries
	large    bool            // whether base has chunk trees
}

func newDirectory(path string, at int, baseID odb.ID, base []odb.TreeEntry) *openDirectory {
	i, _ := slices.BinarySearchFunc(base, odb.TreeEntry{Name: chunksPrefix}, odb.CompareEntries)
	large := i < len(base) && strings.HasPrefix(base[i].Name, chunksPrefix)
	return &openDirectory{path: path, at: at, baseID: baseID, base: base, large: large}
}

// Begin starts to write a version of a resource. base is an earlier version, or another tree of Git, that a reference reaches, or "" for none. Begin
// returns [domarkx.ErrNotFound] if base does not exist.
func (s Reader) Begin(ctx context.Context, base string) (*Writer, error) {
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

// A bound is a limit of a version.
type bound struct {
	most int64  // 0 for any number
	over string // says that there is more
}

func (l bound) check(n int64) error {
	if l.most == 0 || n <= l.most {
		return nil
	}
	return fmt.Errorf("%w: the version would have %s", domarkx.ErrInvalid, l.over)
}

// Limit sets how many files Add accepts, and how many bytes Content; 0 is any number. The texts say in errors that
// there are more. It is called before both.
func (b *Writer) Limit(files, bytes int64, manyFiles, manyBytes string) {
	b.files, b.known.limit = bound{files, manyFiles}, bound{bytes, manyBytes}
}

// Add adds the file at a path. See [domarkx.VersionWriter]. Only one goroutine may call it at a time. If two files have the
// same name, the error may come from a later Add or from Finish. After an error other than [domarkx.ErrNotFound], later calls
// return the same error, and the caller can only call Abort.
func (b *Writer) Add(ctx context.Context, path string, f domarkx.File) error {
	return b.addOr(ctx, false, path, f)
}

// Keep adds a directory with all that the base contains at its path. See [domarkx.DirectoryKeeper]. Its other errors are
// those of Add.
func (b *Writer) Keep(ctx context.Context, path string, f domarkx.File) error {
	return b.addOr(ctx, true, path, f)
}

func (b *Writer) addOr(ctx context.Context, keep bool, path string, f domarkx.File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.err != nil {
		return b.err
	}
	err := b.add(keep, path, f)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s %s: %w", f.Type, QuotePath(path), err)
	if !errors.Is(err, domarkx.ErrNotFound) {
		b.err = err
	}
	return err
}

var errOrder = fmt.Errorf("%w: it was not added in the order of a walk", domarkx.ErrInvalid)

func (b *Writer) add(keep bool, path string, f domarkx.File) error {
	if !b.root.IsZero() {
		return errors.New("the version is already written")
	}
	if !keep {
		b.added++
	}
	if b.added > maxFiles+1 { // including the top directory
		return fmt.Errorf("%w: a version can have at most %d files", domarkx.ErrInvalid, maxFiles)
	}
	if err := b.files.check(int64(b.added) - 1); err != nil {
		return err
	}
	if keep && (f.Type != domarkx.Directory || path == "") {
		return errOrder
	}
	c := child{File: f}
	if err := c.normalize(); err != nil {
		return err
	}
	if path == "" {
		if len(b.stack) > 0 || f.Type != domarkx.Directory {
			return errOrder
		}
		// closeDirectory sets a directory's id in its parent. So the top directory gets a parent that is not stored.
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
		if keep {
			if old.ID.IsZero() {
				return fmt.Errorf("%w in the base", domarkx.ErrNotFound)
			}
			c.object = old.ID
			in.children = append(in.children, c)
			return nil
		}
		var entries []odb.TreeEntry
		if !old.ID.IsZero() {
			var err error
			if entries, err = b.store.db.Tree(old.ID); err != nil {
				return fmt.Errorf("%w: the base cannot be read: %v", domarkx.ErrCorrupt, err) // %v, since ErrNotFound would mean that the file's content is missing
			}
		}
		open := newDirectory(path, len(in.children), old.ID, entries)
		b.stack = append(b.stack, open)
		in.children = append(in.children, c)
		return nil
	}
	if err := b.resolve(in, &c); err != nil {
		return err
	}
	if c.HardLink != "" {
		if err := b.addLink(path, &c); err != nil {
			return err
		}
	}
	in.children = append(in.children, c)
	return nil
}

// goTo closes directories until the innermost open one is the parent of path. It returns that directory and the file's name
// in it.
func (b *Writer) goTo(path string) (in *openDirectory, name string, err error) {
	parent, name := "", path
	if i := strings.LastIndexByte(path, '/'); i > 0 { // checkName rejects a path that begins with a slash
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

// inBase returns the entry with that name in the base's directory, or a zero entry if there is none or if one is a tree and
// the wanted one is not.
func (o *openDirectory) inBase(name string, mode uint32) odb.TreeEntry {
	want := odb.TreeEntry{Name: name, Mode: mode}
	if i, ok := slices.BinarySearchFunc(o.base, want, odb.CompareEntries); ok {
		return o.base[i]
	}
	return odb.TreeEntry{}
}

// closeDirectory writes the innermost open directory, and sets its id in its parent.
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
	return err
}

// writeDirectory stores the tree of a directory and its sidecar, unless they are those of the base.
func writeDirectory(batch *odb.Batch, self *domarkx.File, children []child, baseID odb.ID, base []odb.TreeEntry) (odb.ID, error) {
	slices.SortFunc(children, compareChildren)
	for i := 1; i < len(children); i++ {
		if children[i].Name == children[i-1].Name {
			return odb.ID{}, fmt.Errorf("%w: duplicate name %q", domarkx.ErrInvalid, children[i].Name)
		}
	}
	var sidecar odb.ID
	if data := encodeSidecar(self, children); data != nil {
		if len(data) > maxSidecar {
			return odb.ID{}, fmt.Errorf("%w: the attributes of a directory's files need a sidecar of more than %d MiB", domarkx.ErrInvalid, maxSidecar>>20)
		}
		sidecar = batch.Sum(odb.Blob, data)
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

// Finish writes the version, makes it durable and returns its id. The writer protects it from git gc until
// [Writer.Settle]. If nothing was added, the version is an empty directory.
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
		if b.err = b.checkLinks(ctx); b.err != nil {
			return "", b.err
		}
	}
	return b.root.String(), nil
}

// Settle ends the writer, which no longer protects the version from git gc. The caller calls it once a reference reaches the
// version. See [odb.Batch.Settle].
func (b *Writer) Settle() error {
	if err := b.batch.Settle(); err != nil {
		return fmt.Errorf("store objects: %w", err)
	}
	return nil
}

// Abort ends the writer, unless Settle has ended it. See [odb.Batch.Abort].
func (b *Writer) Abort() { b.batch.Abort() }
