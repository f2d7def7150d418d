package dirversion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/domarkx/domarkx"
)

// ahead is how many folders are read ahead of the one that is given on.
const ahead = 8

// Changed reports whether the folder may differ from what was last committed or
// loaded.
func (f *Directory) Changed(ctx context.Context) (bool, error) {
	top, err := f.newScan(nil).survey(ctx, true)
	return err == nil && top.differs, err
}

// Commit gives what the folder holds to w.
func (f *Directory) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	return f.commit(ctx, f.newScan(w), nil)
}

// CommitChange is Changed and Commit in one; begin is called when there is a change.
// Its writer is based on what was last committed or loaded. Where it is a
// [domarkx.FolderKeeper], folders without a change are not read again.
func (f *Directory) CommitChange(ctx context.Context, begin func() (domarkx.VersionWriter, error)) (bool, error) {
	s := f.newScan(nil)
	top, err := s.survey(ctx, false)
	if err != nil || !top.differs {
		return false, err
	}
	if s.w, err = begin(); err != nil {
		return true, err
	}
	return true, f.commit(ctx, s, top)
}

// commit gives what the folder holds to the writer of a scan, with what a survey
// found, unless there was none.
func (f *Directory) commit(ctx context.Context, s *scan, found *node) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.end()
	defer cancel()
	out := newCacheWriter(f.cache)
	defer out.abort()
	c := &walk{scan: s, out: out, links: map[identity]firstName{}}
	if found != nil {
		c.keeper, _ = s.w.(domarkx.FolderKeeper)
	}
	if err := c.folder(ctx, s.start(ctx, "", s.top()), found); err != nil {
		return err
	}
	f.warnOf(s.odd)
	if !c.changed {
		return nil
	}
	if err := s.flush.end(f.top); err != nil {
		return explain("", err)
	}
	out.put(topFolder, []record{c.top})
	if err := out.commit(); err != nil {
		return fmt.Errorf("writing the stat cache: %w", err)
	}
	return nil
}

// topFolder is where the cache keeps the record of the top folder itself: a name
// that no file has.
const topFolder = "/"

// top is what the cache has of the top folder itself.
func (s *scan) top() *record {
	if records := s.cache.records(topFolder); len(records) == 1 {
		return &records[0]
	}
	return nil
}

// A walk gives on what a scan reads, in the order of a version.
type walk struct {
	*scan
	keeper  domarkx.FolderKeeper // nil to give on all
	out     *cacheWriter
	links   map[identity]firstName // of files with several names
	top     record
	changed bool // whether the cache is not what there is
}

// A firstName is the first path of a file with several names.
type firstName struct {
	path string
	r    *record
}

// folder gives on a folder and all below; found is what a survey found of it, nil
// for nothing. A folder that was removed meanwhile is none.
func (c *walk) folder(ctx context.Context, l *listing, found *node) error {
	select {
	case <-l.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if errors.Is(l.err, fs.ErrNotExist) && l.path != "" {
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

// files gives on what is in a folder.
func (c *walk) files(ctx context.Context, l *listing, found *node) error {
	below := map[int]*listing{} // that are read already
	next := 0                   // of the files, where to look for a folder to read ahead
	for i := range l.files {
		r := &l.files[i]
		for ; next < len(l.files) && len(below) < ahead; next++ {
			if n := &l.files[next]; n.stat.kind == domarkx.Directory && !c.keeps(found.folder(n.name)) {
				below[next] = c.start(ctx, join(l.path, n.name), n)
			}
		}
		if r.stat.kind == domarkx.Directory {
			known := found.folder(r.name)
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
			if err := c.folder(ctx, sub, known); err != nil {
				return err
			}
			if sub.err == nil {
				*r = sub.self
			}
			l.changed = l.changed || sub.altered
			continue
		}
		if r.stat.kind == 0 {
			l.changed = true
			continue
		}
		if err := c.file(ctx, l, r); err != nil {
			return err
		}
	}
	if l.changed || l.raw == "" {
		c.out.put(l.path, slices.DeleteFunc(l.files, func(r record) bool { return r.stat.kind == 0 }))
	} else {
		c.out.copy(l.path, l.raw)
	}
	return nil
}

// file gives on a file that is no folder.
func (c *walk) file(ctx context.Context, l *listing, r *record) error {
	at := join(l.path, r.name)
	f := r.fileOf()
	if r.stat.kind == domarkx.Regular && r.stat.nlink > 1 {
		first, ok := c.links[r.stat.identity]
		if !ok {
			c.links[r.stat.identity] = firstName{at, r}
		} else {
			f = first.r.fileOf()
			f.HardLink = first.path
			if first.r.id != r.id { // it changed between reading the two
				r.racy, l.changed, c.changed = true, true, true
			}
		}
	}
	err := c.w.Add(ctx, at, f)
	if !errors.Is(err, domarkx.ErrNotFound) || r.stat.kind != domarkx.Regular || f.HardLink != "" {
		return err
	}
	// The content that the cache knows is not stored any more.
	d, err := c.f.top.open(l.path)
	if err != nil {
		return explain(l.path, err)
	}
	defer d.close()
	if err := c.content(ctx, d, l.path, r); err != nil {
		return err
	}
	l.changed, c.changed = true, true
	if r.stat.kind == 0 {
		return nil
	}
	return c.w.Add(ctx, at, r.fileOf())
}
