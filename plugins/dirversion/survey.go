package dirversion

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
	"github.com/domarkx/domarkx/plugins/limit"
	"golang.org/x/sync/errgroup"
)

// A node is a directory in a survey.
type node struct {
	name        string
	directories []*node // subdirectories, sorted by name
	differs     bool    // whether it, or something below it, may differ from the cache
	linked      bool    // whether it or a directory below contains files with several hard links
	own         limit.Measures

	path  string
	depth int    // number of parents
	known record // cached record of the directory itself
}

// directory returns the subdirectory with a name, or nil.
func (n *node) directory(name string) *node {
	if n == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(n.directories, name, func(f *node, name string) int { return strings.Compare(f.name, name) })
	if !ok {
		return nil
	}
	return n.directories[i]
}

// A survey compares directories with the cache without reading files.
type survey struct {
	*scan
	first bool // stop at the first difference
	found atomic.Bool
}

// survey compares the whole directory tree with the cache; with first set it stops at the first
// difference. A directory that cannot be read counts as different.
func (s *scan) survey(ctx context.Context, first bool) (*node, error) {
	top := &node{}
	if known := s.top(); known != nil {
		top.known = *known
	}
	v := &survey{scan: s, first: first}
	var workers errgroup.Group
	workers.SetLimit(max(2, runtime.GOMAXPROCS(0)) - 1) // and this goroutine
	v.visit(ctx, &workers, top)
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	top.settle()
	return top, nil
}

// visit looks at a directory and at those below it, as far as possible in other goroutines.
func (v *survey) visit(ctx context.Context, workers *errgroup.Group, n *node) {
	if ctx.Err() != nil || v.first && v.found.Load() {
		return
	}
	v.look(n)
	if n.differs {
		v.found.Store(true)
	}
	for _, below := range n.directories {
		if !workers.TryGo(func() error { v.visit(ctx, workers, below); return nil }) {
			v.visit(ctx, workers, below)
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

// maxDepth limits the depth of a survey. Deeper versions are rejected.
const maxDepth = 4096

// look compares one directory.
func (v *survey) look(n *node) {
	if n.depth > maxDepth {
		n.differs = true
		return
	}
	d, err := v.f.top.Open(n.path)
	if err != nil {
		n.differs = true
		return
	}
	defer d.Close()
	raw := v.cache.raw(n.path)
	if n.known.stat.Kind != domarkx.Directory || raw == "" {
		n.differs = true
	}
	self, err := v.readSelf(d, n.path, &n.known)
	if err != nil || n.known.stat.Mode != self.stat.Mode || !sameXattrs(n.known.xattrs, self.xattrs) {
		n.differs = true
	}
	names, err := d.Names()
	if err != nil {
		n.differs = true
		return
	}
	v.compare(d, n, raw, names)
}

// compare compares the files of a directory with its cached records and sets n.differs if one
// changed.
func (v *survey) compare(d *beneath.Dir, n *node, raw string, names []string) {
	records := decoder{b: raw}
	if raw != "" {
		records.uvarint()
	}
	var old record
	more := func() bool { return len(records.b) > 0 && records.record(&old) == nil }
	have := more()
	checks := v.f.observe != nil || v.f.exclude != nil || len(v.f.inside) > 0 || v.f.limits != (domarkx.Limits{}) || len(v.f.forbidden) > 0
	for _, name := range names {
		var st beneath.Stat
		var err error
		out := false
		if checks {
			st, out, err = v.f.look(d, join(n.path, name), name)
		} else {
			st, err = d.Stat(name)
		}
		if out || err == nil && st.Kind == 0 {
			continue
		}
		if err != nil {
			n.differs = true
			continue
		}
		for have && old.name < name {
			n.differs = true
			have = more()
		}
		if st.Kind != domarkx.Directory {
			n.own.Files++
		}
		if st.Kind == domarkx.Regular {
			n.own.Bytes += st.Size / int64(max(st.Links, 1)) // all its links together count once
		}
		same := have && old.name == name
		switch {
		case st.Kind == domarkx.Directory:
			f := &node{name: name, path: join(n.path, name), depth: n.depth + 1}
			if same = same && old.stat.Kind == domarkx.Directory; same {
				f.known = old
			}
			n.directories = append(n.directories, f)
		case st.Kind == domarkx.Regular && st.Links > 1:
			n.linked = true
			fallthrough
		default:
			same = same && !old.racy && old.stat.Same(st)
		}
		if have && old.name == name {
			have = more()
		}
		if !same {
			n.differs = true
			if v.first {
				return
			}
		}
	}
	if have || records.bad || len(records.b) > 0 {
		n.differs = true
	}
}

// keeps reports whether a directory can be copied unchanged from the last version. It cannot
// if it contains files with several hard links, since the others may have moved.
func (c *walk) keeps(n *node) bool {
	return c.keeper != nil && n != nil && !n.differs && !n.linked
}

// keep copies a directory from the last version. It returns false if that no longer has it.
func (c *walk) keep(ctx context.Context, path string, r *record, n *node) (bool, error) {
	err := c.keeper.Keep(ctx, path, r.fileOf())
	if errors.Is(err, domarkx.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.copyRecords(n)
	return true, nil
}

// copyRecords copies the cached records of a directory and everything below.
func (c *walk) copyRecords(n *node) {
	for _, f := range n.directories {
		c.copyRecords(f)
	}
	c.out.copy(n.path, c.cache.raw(n.path))
}

// maxNamed is the number of files that a warning names.
const maxNamed = 10

// warnOf warns of files that no version can contain.
func (f *Directory) warnOf(odd []string) {
	if len(odd) == 0 {
		return
	}
	slices.Sort(odd)
	f.warn("left out of the version, since sockets are useless without the process that listens: " + listed(odd))
}

// listed returns the first of some paths, for a message.
func listed(paths []string) string {
	names := make([]string, 0, maxNamed)
	for _, path := range paths[:min(len(paths), maxNamed)] {
		names = append(names, quoted(path))
	}
	text := strings.Join(names, ", ")
	if n := len(paths) - maxNamed; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
