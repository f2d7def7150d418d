package dirversion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
	"github.com/domarkx/domarkx/plugins/limit"
)

// Changed reports whether the directory may differ from the version last committed or
// loaded.
func (f *Directory) Changed(ctx context.Context) (bool, error) {
	f.begin()
	s, err := f.scan(ctx, true)
	return err == nil && (s.top.differs || len(limit.LeaveOut(&s.top.usage, f.limits)) > 0), err
}

// Commit writes the content of the directory to w.
func (f *Directory) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	f.begin()
	s, err := f.fit(ctx)
	if err != nil {
		return err
	}
	return f.commit(ctx, &commit{scan: s, w: w})
}

// CommitIncrement combines Changed and Commit. It calls begin if the directory changed. The
// base of the writer must be the version last committed or loaded. If the writer is a
// [domarkx.DirectoryKeeper], unchanged directories are not written again.
//
// Resources that consist of the directory only implement [domarkx.ChangeCommitter] with it. It has another name so that
// embedding does not make other resources ChangeCommitters.
func (f *Directory) CommitIncrement(ctx context.Context, begin func() (domarkx.VersionWriter, error)) (bool, error) {
	f.begin()
	s, err := f.fit(ctx)
	if err != nil || !s.top.differs {
		f.warnOfLeftOut()
		return false, err
	}
	w, err := begin()
	if err != nil {
		return true, err
	}
	keeper, _ := w.(domarkx.DirectoryKeeper)
	return true, f.commit(ctx, &commit{scan: s, w: w, keeper: keeper})
}

func (f *Directory) commit(ctx context.Context, c *commit) error {
	c.out, c.links = cache{}, map[beneath.Identity]firstName{}
	defer c.reportLong().Stop()
	err := c.readContents(ctx)
	if err == nil {
		err = c.directory(ctx, c.top)
	}
	if at := c.reading.Load(); err != nil && at != nil && ctx.Err() != nil {
		return fmt.Errorf("reading %s: %w", quoted(*at), context.Cause(ctx))
	}
	if err != nil {
		return err
	}
	if len(c.odd) > 0 {
		slices.Sort(c.odd)
		f.warn("left out of the version, since sockets are useless without the process that listens: " + listed(c.odd))
	}
	f.warnOfLeftOut()
	if !c.changed {
		return nil
	}
	if c.syncs.Load() > maxSingly {
		if err := f.top.SyncAll(); err != nil {
			return explain("", err)
		}
	}
	c.out.put(topDirectory, []record{c.top.self})
	if err := c.out.write(f.cache); err != nil {
		return fmt.Errorf("writing the stat cache: %w", err)
	}
	return nil
}

// topDirectory is the path in the cache of the record of the top directory itself. No file
// has this name.
const topDirectory = "/"

// A commit writes the results of a scan in the order of a version.
type commit struct {
	*scan
	w       domarkx.VersionWriter
	keeper  domarkx.DirectoryKeeper // nil if unchanged directories cannot be copied from the base
	out     cache
	links   map[beneath.Identity]firstName // first path of each file with several hard links
	changed bool                           // whether the cache is out of date
	syncs   atomic.Int64                   // see sync
	reading atomic.Pointer[string]         // path of a file that is being read
}

// A firstName is the first path of a file with several hard links.
type firstName struct {
	path string
	r    *record
}

// maxSingly is the number of files and directories that are synced one by one while they are open. For more, one sync of the
// file system is faster, although it also waits for writes of other programs.
const maxSingly = 16

// sync syncs a new or changed file or directory, so that every file that matches the cache is complete even after a power cut.
// Beyond maxSingly files, it leaves the work to the end of the commit. Observed directories are not synced.
func (c *commit) sync(sync func() error) error {
	if c.f.observe != nil || c.syncs.Add(1) > maxSingly && beneath.CanSyncAll {
		return nil
	}
	return sync()
}

// A batch is some files of a directory, which are read one after the other, or the directory itself.
type batch struct {
	n     *node
	files []int
}

const batchSize = 32

// readContents reads the files whose content is unknown.
func (c *commit) readContents(ctx context.Context) error {
	var batches []batch
	for todo := []*node{c.top}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], n.directories...)
		if n.err != nil || !n.changed && !n.altered {
			continue
		}
		batches = append(batches, batch{n, nil}) // syncs the directory
		for files := range slices.Chunk(n.unread, batchSize) {
			batches = append(batches, batch{n, files})
		}
	}
	return parallel(ctx, max(2, runtime.GOMAXPROCS(0)), batches, c.readBatch)
}

func (c *commit) readBatch(ctx context.Context, b batch) error {
	d, err := c.f.top.Open(b.n.path)
	if b.n.path != "" && errors.Is(err, fs.ErrNotExist) || c.f.tolerate(b.n.path, err) {
		for _, i := range b.files {
			b.n.files[i].stat.Kind = 0
		}
		return nil
	}
	if err != nil {
		return explain(b.n.path, err)
	}
	defer d.Close()
	for _, i := range b.files {
		if err := c.content(ctx, d, b.n.path, &b.n.files[i]); err != nil {
			return err
		}
	}
	if b.files == nil {
		return explain(b.n.path, c.sync(d.Sync))
	}
	return nil
}

// A changing file is read up to maxReads times, with pauses of readPause in between.
const (
	maxReads  = 6
	readPause = 5 * time.Millisecond
)

// content stores the content of a regular file. The record's kind is 0 afterwards if the file is left out.
func (c *commit) content(ctx context.Context, d *beneath.Dir, directory string, r *record) error {
	at := join(directory, r.name)
	c.reading.Store(&at)
	err := fmt.Errorf("%s keeps changing while it is read: %w; stop the program that writes it, or exclude it", quoted(at), domarkx.ErrConflict)
	for n := range maxReads {
		if n > 0 {
			select {
			case <-time.After(readPause << n):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		ok, rerr := c.contentOnce(ctx, d, r)
		if ok {
			return nil
		}
		if errors.Is(rerr, fs.ErrNotExist) { // removed meanwhile
			r.stat.Kind = 0
			return nil
		}
		if cause := context.Cause(ctx); rerr != nil && cause != nil {
			return cause
		}
		if rerr != nil {
			err = explain(at, rerr)
			break
		}
	}
	if !c.f.tolerate(at, err) {
		return err
	}
	r.stat.Kind = 0
	return nil
}

// contentOnce reads a file, and reports whether it did not change meanwhile.
func (c *commit) contentOnce(ctx context.Context, d *beneath.Dir, r *record) (bool, error) {
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
	id, size, err := c.w.Content(ctx, f.Reader(st.Size+1))
	if err != nil {
		return false, err
	}
	after, err := f.Stat()
	if err != nil || size != st.Size || !after.Same(st) {
		return false, err
	}
	r.stat, r.racy, r.id, r.xattrs = st, st.Racy(began), id, attrs
	if err := c.sync(f.Sync); err != nil {
		return false, err
	}
	return true, nil
}

// directory writes a directory with everything below it. It skips a directory that was removed meanwhile.
func (c *commit) directory(ctx context.Context, n *node) error {
	if n.path != "" && (errors.Is(n.err, fs.ErrNotExist) || c.f.tolerate(n.path, n.err)) {
		c.changed = true
		return nil
	}
	if n.err != nil {
		return n.err
	}
	if err := c.w.Add(ctx, n.path, n.self.fileOf()); err != nil {
		return err
	}
	files, changed, below := n.files, n.changed, n.directories
	if files == nil {
		files = c.cache.records(n.path)
	}
	for i := range files {
		r := &files[i]
		var differs bool
		var err error
		switch r.stat.Kind {
		case 0:
			differs = true
		case domarkx.Directory:
			differs, err = c.subdirectory(ctx, below[0], r)
			below = below[1:]
		default:
			differs, err = c.file(ctx, n.path, r)
		}
		if err != nil {
			return err
		}
		changed = changed || differs
	}
	c.changed = c.changed || changed || n.altered
	if changed {
		c.out.put(n.path, slices.DeleteFunc(files, func(r record) bool { return r.stat.Kind == 0 }))
	} else {
		c.out[n.path] = c.cache[n.path]
	}
	return nil
}

// subdirectory writes a directory, or copies an unchanged one from the last version if that still has it. It reports
// whether its record changed. A directory that contains files with several hard links is not copied, since the others may have
// moved.
func (c *commit) subdirectory(ctx context.Context, n *node, r *record) (changed bool, err error) {
	if c.keeper != nil && !n.differs && !n.linked {
		err := c.keeper.Keep(ctx, n.path, r.fileOf())
		if !errors.Is(err, domarkx.ErrNotFound) {
			c.copyRecords(n)
			return false, err
		}
	}
	if err := c.directory(ctx, n); err != nil {
		return false, err
	}
	if n.err == nil {
		*r = n.self
	}
	return n.altered, nil
}

// copyRecords copies the cached records of a directory and everything below.
func (c *commit) copyRecords(n *node) {
	for _, f := range n.directories {
		c.copyRecords(f)
	}
	c.out[n.path] = c.cache[n.path]
}

// file writes a file that is not a directory, and reports whether its record changed.
func (c *commit) file(ctx context.Context, directory string, r *record) (changed bool, err error) {
	at := join(directory, r.name)
	f := r.fileOf()
	if r.stat.Kind == domarkx.Regular && r.stat.Links > 1 {
		first, ok := c.links[r.stat.Identity]
		if !ok {
			c.links[r.stat.Identity] = firstName{at, r}
		} else {
			f = first.r.fileOf()
			f.HardLink = first.path
			if first.r.id != r.id { // the file changed between the two reads
				r.racy, changed = true, true
			}
		}
	}
	err = c.w.Add(ctx, at, f)
	if !errors.Is(err, domarkx.ErrNotFound) || r.stat.Kind != domarkx.Regular || f.HardLink != "" {
		return changed, err
	}
	// The store no longer has the content that the cache refers to.
	d, err := c.f.top.Open(directory)
	if err != nil {
		return false, explain(directory, err)
	}
	defer d.Close()
	if err := c.content(ctx, d, directory, r); err != nil || r.stat.Kind == 0 {
		return true, err
	}
	return true, c.w.Add(ctx, at, r.fileOf())
}

// longRead is how long a commit reads before it says what.
const longRead = 5 * time.Second

// reportLong says which file is being read if that takes long. The caller must stop the timer.
func (c *commit) reportLong() *time.Timer {
	return time.AfterFunc(longRead, func() {
		if at := c.reading.Load(); at != nil {
			c.f.warn(fmt.Sprintf("still reading files for a version, now %s", quoted(*at)))
		}
	})
}

// maxNamed is the number of files that a warning names.
const maxNamed = 10

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
