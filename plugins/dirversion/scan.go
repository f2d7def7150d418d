package dirversion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// A scan reads a directory tree, several directories at once.
type scan struct {
	f     *Directory
	cache *cache
	w     domarkx.VersionWriter // nil if the scan reads no contents
	slots chan struct{}         // limits the directories read at once
	hash  chan struct{}         // limits the files read at once
	work  sync.WaitGroup        // background goroutines
	mu    sync.Mutex
	odd   []string // paths of files that no version can contain
	flush flush    // of new and changed files

	reading atomic.Pointer[string] // path of a file that is being read
}

// end waits for the background goroutines. The caller must cancel their context first.
func (s *scan) end() { s.work.Wait() }

// newScan returns a scan that writes the contents of files to w. With w nil it reads no contents.
func (f *Directory) newScan(w domarkx.VersionWriter) *scan {
	n := max(2, runtime.GOMAXPROCS(0))
	return &scan{f: f, cache: openCache(f.cache), w: w, slots: make(chan struct{}, 2*n), hash: make(chan struct{}, n)}
}

// A listing is the content of a directory.
type listing struct {
	path    string
	self    record
	files   []record // sorted by name
	raw     string   // encoded records from the cache; valid only if changed is false
	changed bool     // whether the cached records of the files differ or are missing
	altered bool     // whether the cached record of the directory itself differs
	err     error
	done    chan struct{}
}

// start reads a directory in the background. known is the cached record of the directory
// itself, nil for none.
func (s *scan) start(ctx context.Context, path string, known *record) *listing {
	l := &listing{path: path, done: make(chan struct{})}
	s.work.Go(func() {
		defer close(l.done)
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
			l.err = s.read(ctx, l, known)
		case <-ctx.Done():
			l.err = ctx.Err()
		}
	})
	return l
}

func (s *scan) read(ctx context.Context, l *listing, known *record) error {
	d, err := s.f.top.Open(l.path)
	if err != nil {
		return explain(l.path, err)
	}
	defer d.Close()
	if l.self, err = s.readSelf(d, l.path, known); err != nil {
		return err
	}
	l.altered = known == nil || known.stat.Mode != l.self.stat.Mode || !sameXattrs(known.xattrs, l.self.xattrs)
	names, err := d.Names()
	if err != nil {
		return explain(l.path, err)
	}
	l.raw = s.cache.raw(l.path)
	old, err := decodeRecords(l.raw)
	if err != nil || l.raw == "" {
		old, l.changed = nil, true
	}
	l.files = make([]record, 0, len(names))
	var unread []int
	met := 0 // number of cached records that still match
	for _, name := range names {
		r, err := s.readStat(d, l.path, name)
		if err != nil {
			return err
		}
		if r.stat.Kind == 0 {
			continue
		}
		for len(old) > 0 && old[0].name < name {
			old = old[1:]
		}
		fresh := true
		if len(old) > 0 && old[0].name == name {
			met++
			fresh, err = s.recall(d, l.path, &r, &old[0])
		} else {
			l.changed = true
			_, err = s.recall(d, l.path, &r, &record{})
		}
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			l.changed = true
			continue
		}
		if err != nil {
			return err
		}
		if fresh {
			l.changed = true
			if r.stat.Kind == domarkx.Regular {
				unread = append(unread, len(l.files))
			}
		}
		l.files = append(l.files, r)
	}
	if met != countOf(l.raw) {
		l.changed = true
	}
	if s.w == nil {
		return nil
	}
	if (l.changed || l.altered) && s.f.observe == nil {
		if err := s.flush.one(d.Sync); err != nil {
			return explain(l.path, err)
		}
	}
	return s.readContents(ctx, d, l, unread)
}

// countOf returns the number of records in an encoding.
func countOf(raw string) int {
	if raw == "" {
		return 0
	}
	d := decoder{b: raw}
	return int(d.uvarint())
}

// readSelf reads the attributes of the directory itself.
func (s *scan) readSelf(d *beneath.Dir, path string, known *record) (record, error) {
	st, err := d.Stat("")
	if err != nil {
		return record{}, explain(path, err)
	}
	if err := s.f.admit(path, st); err != nil {
		return record{}, err
	}
	_, name := split(path)
	r := record{name: name, stat: st}
	if known != nil && known.stat.Same(st) && !known.racy {
		r.xattrs = known.xattrs
		return r, nil
	}
	r.racy = st.Racy(time.Now())
	r.xattrs, err = d.Xattrs()
	return r, explain(path, err)
}

// readStat reads the stat of a file. Its kind is 0 if the file is not kept.
func (s *scan) readStat(d *beneath.Dir, directory, name string) (record, error) {
	at := join(directory, name)
	st, out, err := s.f.look(d, at, name)
	if out || errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return record{}, nil
	}
	if err != nil {
		if err = explain(at, err); s.f.tolerate(at, err) {
			return record{}, nil
		}
		return record{}, err
	}
	if st.Kind == 0 {
		s.mu.Lock()
		s.odd = append(s.odd, at)
		s.mu.Unlock()
		return record{}, nil
	}
	return record{name: name, stat: st}, nil
}

// recall takes the content id and attributes from the cached record old if the file did not change,
// and reports whether the file must be read.
func (s *scan) recall(d *beneath.Dir, directory string, r, old *record) (bool, error) {
	if r.stat.Kind == domarkx.Directory { // the directory's own listing reads and compares its attributes
		if old.stat.Kind == domarkx.Directory {
			*r = *old
			return false, nil
		}
		r.stat = beneath.Stat{Kind: domarkx.Directory}
		return true, nil
	}
	if old.stat.Same(r.stat) && !old.racy {
		r.id, r.target, r.xattrs = old.id, old.target, old.xattrs
		return false, nil
	}
	r.racy = r.stat.Racy(time.Now())
	if r.stat.Kind != domarkx.Symlink {
		return true, nil
	}
	var err error
	r.target, err = d.Readlink(r.name)
	return true, explain(join(directory, r.name), err)
}

// readContents reads the files of a directory whose content is unknown.
func (s *scan) readContents(ctx context.Context, d *beneath.Dir, l *listing, unread []int) error {
	return parallel(ctx, cap(s.hash), unread, func(ctx context.Context, i int) error {
		s.hash <- struct{}{}
		defer func() { <-s.hash }()
		return s.content(ctx, d, l.path, &l.files[i])
	})
}

// A changing file is read up to maxReads times, with pauses of readPause in between.
const (
	maxReads  = 6
	readPause = 5 * time.Millisecond
)

// content stores the content of a regular file.
func (s *scan) content(ctx context.Context, d *beneath.Dir, directory string, r *record) error {
	at := join(directory, r.name)
	s.reading.Store(&at)
	for n := range maxReads {
		if n > 0 {
			select {
			case <-time.After(readPause << n):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		ok, err := s.contentOnce(ctx, d, r)
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			r.stat.Kind = 0
			return nil
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return s.leave(at, r, explain(at, err))
		}
		if ok {
			return nil
		}
	}
	return s.leave(at, r, fmt.Errorf("%s keeps changing while it is read: %w; stop the program that writes it, or exclude it", quoted(at), domarkx.ErrConflict))
}

// leave leaves a file out that cannot be read, if the directory is only observed.
func (s *scan) leave(at string, r *record, err error) error {
	if !s.f.tolerate(at, err) {
		return err
	}
	r.stat.Kind = 0
	return nil
}

// contentOnce reads a file, and reports whether it did not change meanwhile.
func (s *scan) contentOnce(ctx context.Context, d *beneath.Dir, r *record) (bool, error) {
	f, err := d.OpenFile(r.name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	began := time.Now()
	st, err := f.Stat()
	if err != nil {
		return false, err
	}
	if st.Kind != domarkx.Regular {
		return false, errors.New("was replaced while it was read")
	}
	attrs, err := f.Xattrs()
	if err != nil {
		return false, err
	}
	// Reading one byte more than expected detects a growing file, which may be endless.
	id, size, err := s.w.Content(ctx, f.Reader(st.Size+1))
	if err != nil {
		return false, err
	}
	after, err := f.Stat()
	if err != nil || size != st.Size || !after.Same(st) {
		return false, err
	}
	r.stat, r.racy, r.id, r.xattrs = st, st.Racy(began), id, attrs
	if s.f.observe != nil {
		return true, nil
	}
	return true, s.flush.one(f.Sync)
}

func sameXattrs(a, b []domarkx.Xattr) bool {
	return slices.EqualFunc(a, b, func(a, b domarkx.Xattr) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) })
}
