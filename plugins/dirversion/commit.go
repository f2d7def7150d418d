package dirversion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// ahead is the number of directories that are read ahead of the one being written.
const ahead = 8

// Changed reports whether the directory may differ from the version last committed or
// loaded.
func (f *Directory) Changed(ctx context.Context) (bool, error) {
	f.begin()
	top, err := f.newScan(nil).survey(ctx, true)
	return err == nil && (top.differs || top.exceeds(f.limits)), err
}

// Commit writes the content of the directory to w.
func (f *Directory) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	f.begin()
	if err := f.fit(ctx); err != nil {
		return err
	}
	return f.commit(ctx, f.newScan(w), nil)
}

// CommitChange combines Changed and Commit. It calls begin if the directory changed. The
// base of the writer must be the version last committed or loaded. If the writer is a
// [domarkx.DirectoryKeeper], unchanged directories are not read again.
func (f *Directory) CommitChange(ctx context.Context, begin func() (domarkx.VersionWriter, error)) (bool, error) {
	f.begin()
	s := f.newScan(nil)
	top, err := s.survey(ctx, false)
	if err == nil && f.reduce(top) {
		top, err = s.survey(ctx, false)
	}
	if err != nil || !top.differs {
		f.warnOfLeftOut()
		return false, err
	}
	if s.w, err = begin(); err != nil {
		return true, err
	}
	return true, f.commit(ctx, s, top)
}

// commit writes the content of the directory to the writer of a scan. found is the result
// of a survey, nil for none.
func (f *Directory) commit(ctx context.Context, s *scan, found *node) error {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer s.end()
	defer s.reportLong().Stop()
	defer cancel()
	out := newCacheWriter(f.cache)
	defer out.abort()
	c := &walk{scan: s, out: out, links: map[beneath.Identity]firstName{}}
	if found != nil {
		c.keeper, _ = s.w.(domarkx.DirectoryKeeper)
	}
	if err := c.directory(ctx, s.start(ctx, "", s.top()), found); err != nil {
		if at := s.reading.Load(); at != nil && outer.Err() != nil {
			return fmt.Errorf("reading %s: %w", quoted(*at), context.Cause(outer))
		}
		return err
	}
	f.warnOf(s.odd)
	f.warnOfLeftOut()
	if !c.changed {
		return nil
	}
	if err := s.flush.end(f.top); err != nil {
		return explain("", err)
	}
	out.put(topDirectory, []record{c.top})
	if err := out.commit(); err != nil {
		return fmt.Errorf("writing the stat cache: %w", err)
	}
	return nil
}

// topDirectory is the path in the cache of the record of the top directory itself. No file
// has this name.
const topDirectory = "/"

// top returns the cached record of the top directory itself.
func (s *scan) top() *record {
	if records := s.cache.records(topDirectory); len(records) == 1 {
		return &records[0]
	}
	return nil
}

// A walk writes the results of a scan in the order of a version.
type walk struct {
	*scan
	keeper  domarkx.DirectoryKeeper // nil if unchanged directories cannot be copied from the base
	out     *cacheWriter
	links   map[beneath.Identity]firstName // first path of each file with several hard links
	top     record
	changed bool // whether the cache is out of date
}

// A firstName is the first path of a file with several hard links.
type firstName struct {
	path string
	r    *record
}

// directory writes a directory with everything below it. found is its node in the survey, nil
// for none. It skips a directory that was removed meanwhile.
func (c *walk) directory(ctx context.Context, l *listing, found *node) error {
	select {
	case <-l.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if errors.Is(l.err, fs.ErrNotExist) && l.path != "" {
		c.changed = true
		return nil
	}
	if l.path != "" && c.f.tolerate(l.path, l.err) {
		c.changed = true
		return nil
	}
	if l.err != nil {
		return l.err
	}
	c.changed = c.changed || l.changed || l.altered
	if l.path == "" {
		c.top = l.self
	}
	if err := c.w.Add(ctx, l.path, l.self.fileOf()); err != nil {
		return err
	}
	return c.files(ctx, l, found)
}

// files writes the files in a directory.
func (c *walk) files(ctx context.Context, l *listing, found *node) error {
	below := map[int]*listing{} // directories read ahead
	next := 0                   // index of the next file that may be a directory to read ahead
	for i := range l.files {
		r := &l.files[i]
		for ; next < len(l.files) && len(below) < ahead; next++ {
			if n := &l.files[next]; n.stat.Kind == domarkx.Directory && !c.keeps(found.directory(n.name)) {
				below[next] = c.start(ctx, join(l.path, n.name), n)
			}
		}
		if r.stat.Kind == domarkx.Directory {
			known := found.directory(r.name)
			sub := below[i]
			delete(below, i)
			if sub == nil {
				kept, err := c.keep(ctx, join(l.path, r.name), r, known)
				if err != nil {
					return err
				}
				if kept {
					continue
				}
				sub = c.start(ctx, join(l.path, r.name), r)
			}
			if err := c.directory(ctx, sub, known); err != nil {
				return err
			}
			if sub.err == nil {
				*r = sub.self
			}
			l.changed = l.changed || sub.altered
			continue
		}
		if r.stat.Kind == 0 {
			l.changed = true
			continue
		}
		if err := c.file(ctx, l, r); err != nil {
			return err
		}
	}
	if l.changed || l.raw == "" {
		c.out.put(l.path, slices.DeleteFunc(l.files, func(r record) bool { return r.stat.Kind == 0 }))
	} else {
		c.out.copy(l.path, l.raw)
	}
	return nil
}

// file writes a file that is not a directory.
func (c *walk) file(ctx context.Context, l *listing, r *record) error {
	at := join(l.path, r.name)
	f := r.fileOf()
	if r.stat.Kind == domarkx.Regular && r.stat.Links > 1 {
		first, ok := c.links[r.stat.Identity]
		if !ok {
			c.links[r.stat.Identity] = firstName{at, r}
		} else {
			f = first.r.fileOf()
			f.HardLink = first.path
			if first.r.id != r.id { // the file changed between the two reads
				r.racy, l.changed, c.changed = true, true, true
			}
		}
	}
	err := c.w.Add(ctx, at, f)
	if !errors.Is(err, domarkx.ErrNotFound) || r.stat.Kind != domarkx.Regular || f.HardLink != "" {
		return err
	}
	// The store no longer has the content that the cache refers to.
	d, err := c.f.top.Open(l.path)
	if err != nil {
		return explain(l.path, err)
	}
	defer d.Close()
	if err := c.content(ctx, d, l.path, r); err != nil {
		return err
	}
	l.changed, c.changed = true, true
	if r.stat.Kind == 0 {
		return nil
	}
	return c.w.Add(ctx, at, r.fileOf())
}
