package dirversion

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
	"github.com/domarkx/domarkx/plugins/limit"
	"golang.org/x/sync/errgroup"
)

// A node is a directory in a scan.
type node struct {
	path        string
	known       record   // its cached record; of kind 0 for none
	self        record   // its record now
	files       []record // sorted by name; nil if the cached ones are as good
	unread      []int    // which files have an unknown content
	directories []*node  // subdirectories, sorted by name
	usage       limit.Usage
	err         error // why it cannot be read

	changed bool // whether the records of its files differ from the cached ones
	altered bool // whether its own record differs
	differs bool // whether it, or something below it, differs
	linked  bool // whether it, or a directory below it, contains files with several hard links
}

// A scan compares a directory tree with the cache, without reading the content of files.
type scan struct {
	f     *Directory
	cache cache
	top   *node
	first bool // stop at the first difference
	found atomic.Bool

	mu  sync.Mutex
	odd []string // paths of files that no version can contain
}

// scan reads the whole directory tree; with first set it stops at the first difference.
func (f *Directory) scan(ctx context.Context, first bool) (*scan, error) {
	s := &scan{f: f, cache: openCache(f.cache), top: f.newNode("", record{}), first: first}
	if records := s.cache.records(topDirectory); len(records) == 1 {
		s.top.known = records[0]
	}
	var workers errgroup.Group
	workers.SetLimit(2 * runtime.GOMAXPROCS(0)) // many end after one small directory; as many as processors would leave some idle
	s.visit(ctx, &workers, s.top)
	_ = workers.Wait() // nodes have the errors
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.top.settle()
	return s, nil
}

func (f *Directory) newNode(path string, known record) *node {
	return &node{path: path, known: known, usage: limit.Usage{Path: path, List: func() []limit.Part { return f.parts(path) }}}
}

// visit reads a directory and those below it, as far as possible in other goroutines.
func (s *scan) visit(ctx context.Context, workers *errgroup.Group, n *node) {
	if ctx.Err() != nil || s.first && s.found.Load() {
		return
	}
	n.err = s.read(n)
	if n.differs = n.changed || n.altered || n.err != nil; n.differs {
		s.found.Store(true)
	}
	for _, below := range n.directories {
		if !workers.TryGo(func() error { s.visit(ctx, workers, below); return nil }) {
			s.visit(ctx, workers, below)
		}
	}
}

// settle sets differs and linked in a directory if they are set in a subdirectory.
func (n *node) settle() {
	for _, f := range n.directories {
		f.settle()
		n.differs = n.differs || f.differs
		n.linked = n.linked || f.linked
	}
}

// read reads one directory.
func (s *scan) read(n *node) error {
	d, err := s.f.top.Open(n.path)
	if err != nil {
		return explain(n.path, err)
	}
	defer d.Close()
	if n.self, err = s.readSelf(d, n); err != nil {
		return err
	}
	n.altered = n.known.stat.Kind != domarkx.Directory || n.known.stat.Mode != n.self.stat.Mode || !sameXattrs(n.known.xattrs, n.self.xattrs)
	names, err := d.Names()
	if err != nil {
		return explain(n.path, err)
	}
	raw := s.cache[n.path]
	cached, err := decodeRecords(raw)
	n.changed = err != nil || len(raw) == 0
	old := cached
	for _, name := range names {
		same := cached[:len(cached)-len(old)] // what was read so far, unless n.files has that
		for len(old) > 0 && old[0].name < name {
			n.changed, old = true, old[1:]
		}
		was := &record{}
		if len(old) > 0 && old[0].name == name {
			was = &old[0]
		}
		r, fresh, err := s.readFile(d, n.path, name, was)
		if err != nil {
			return err
		}
		if r.stat.Kind == 0 {
			n.keepFiles(same)
			continue
		}
		if was.name == name {
			old = old[1:]
		}
		n.changed = n.changed || fresh
		s.count(n, &r)
		if n.keepFiles(same); n.files == nil {
			continue
		}
		if fresh && r.stat.Kind == domarkx.Regular {
			n.unread = append(n.unread, len(n.files))
		}
		n.files = append(n.files, r)
	}
	same := cached[:len(cached)-len(old)]
	n.changed = n.changed || len(old) > 0
	n.keepFiles(same)
	return nil
}

// keepFiles sets the files of a directory to the records of those read so far, if the cached ones are not as good. The cache
// has no numbers of links.
func (n *node) keepFiles(same []record) {
	if n.files == nil && (n.changed || n.linked) {
		n.files = append([]record{}, same...)
	}
}

// count adds a file to a directory's usage and subdirectories.
func (s *scan) count(n *node, r *record) {
	switch r.stat.Kind {
	case domarkx.Directory:
		below := s.f.newNode(join(n.path, r.name), *r)
		n.directories = append(n.directories, below)
		n.usage.Below = append(n.usage.Below, &below.usage)
		return
	case domarkx.Regular:
		n.usage.Own.Bytes += r.stat.Size / int64(max(r.stat.Links, 1)) // all its links together count once
		n.linked = n.linked || r.stat.Links > 1
	}
	n.usage.Own.Files++
}

// readSelf reads the attributes of the directory itself.
func (s *scan) readSelf(d *beneath.Dir, n *node) (record, error) {
	st, err := d.Stat("")
	if err != nil {
		return record{}, explain(n.path, err)
	}
	if err := s.f.admit(n.path, st); err != nil {
		return record{}, err
	}
	_, name := split(n.path)
	r := record{name: name, stat: st}
	if n.known.stat.Same(st) && !n.known.racy {
		r.xattrs = n.known.xattrs
		return r, nil
	}
	r.racy = st.Racy(time.Now())
	r.xattrs, err = d.Xattrs()
	return r, explain(n.path, err)
}

// readFile returns the record of a file, whose kind is 0 if the file is not kept, with the content id and the attributes of
// its cached record if the file did not change. It reports whether it did change.
func (s *scan) readFile(d *beneath.Dir, directory, name string, old *record) (r record, fresh bool, err error) {
	at := join(directory, name)
	st, out, err := s.f.look(d, at, name)
	if out || errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return record{}, false, nil
	}
	if err != nil {
		if err = explain(at, err); s.f.tolerate(at, err) {
			return record{}, false, nil
		}
		return record{}, false, err
	}
	r = record{name: name, stat: st}
	switch {
	case st.Kind == 0:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.odd = append(s.odd, at)
		return record{}, false, nil
	case st.Kind == domarkx.Directory && old.stat.Kind == domarkx.Directory: // its node reads and compares its attributes
		return *old, false, nil
	case st.Kind == domarkx.Directory:
		r.stat = beneath.Stat{Kind: domarkx.Directory}
		return r, true, nil
	case old.stat.Same(st) && !old.racy:
		r.id, r.target, r.xattrs = old.id, old.target, old.xattrs
		return r, false, nil
	}
	if r.racy = st.Racy(time.Now()); st.Kind == domarkx.Symlink {
		if r.target, err = d.Readlink(name); errors.Is(err, fs.ErrNotExist) {
			return record{}, false, nil
		}
	}
	return r, true, explain(at, err)
}

func sameXattrs(a, b []domarkx.Xattr) bool {
	return slices.EqualFunc(a, b, func(a, b domarkx.Xattr) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) })
}
