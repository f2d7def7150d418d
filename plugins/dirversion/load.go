package dirversion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
	"github.com/domarkx/domarkx/plugins/limit"
)

// Load replaces the content of the directory by a version, after CheckLoad. It only touches
// files that differ. If the process is killed, the directory counts as Changed and another
// Load completes it. In an observed directory, it leaves files that changed since the last
// commit, loads the others, and returns a [*ChangedError].
func (f *Directory) Load(ctx context.Context, r domarkx.VersionReader, version string) error {
	top, err := r.Top(ctx, version)
	if err != nil {
		return err
	}
	if top.Type != domarkx.Directory {
		return fmt.Errorf("version %s: its top is a %v: %w", version, top.Type, domarkx.ErrCorrupt)
	}
	if f.checked != version {
		if err := f.CheckLoad(ctx, r, "", version); err != nil {
			return err
		}
	}
	f.checked = ""
	f.observeAgain()
	f.over = nil
	if f.observe == nil { // in an observed directory, the last commit says what stays
		f.left.Clear()
		if f.limits.Files > 0 || f.limits.Version > 0 {
			if _, err := f.fit(ctx); err != nil {
				return err
			}
		}
	}
	l := &load{f: f, r: r, cache: openCache(f.cache), out: cache{}, written: map[beneath.Identity]string{}, top: top.ID}
	l.leaveAttributes("", &top)
	if f.observe != nil {
		return l.observed(ctx, top)
	}
	if err := l.replace(ctx, top); err != nil {
		return err
	}
	st, err := f.top.Stat("")
	if err != nil {
		return explain("", err)
	}
	l.out.put(topDirectory, []record{{stat: st, xattrs: top.Xattrs, racy: true}})
	if err := l.out.write(f.cache); err != nil {
		return fmt.Errorf("writing the stat cache: %w", err)
	}
	// Changes after this have later times than the files written here.
	time.Sleep(time.Until(time.Unix(0, l.newest).Add(beneath.Tick)))
	return nil
}

// replace replaces the content of the directory.
func (l *load) replace(ctx context.Context, top domarkx.File) error {
	if err := l.directory(ctx, "", top, 0, &record{}); err != nil {
		return err
	}
	if err := l.makeLinks(ctx); err != nil {
		return err
	}
	if err := l.setDirectories(); err != nil {
		return err
	}
	return explain("", l.f.top.SyncAll())
}

// observed replaces the content of an observed directory, without the files that changed meanwhile.
func (l *load) observed(ctx context.Context, top domarkx.File) error {
	o := l.f.observe
	o.saved = l.cache
	if o.Aside != "" && beneath.CanMove {
		var err error
		if o.aside, err = l.f.openAside(l.r); err != nil {
			return err
		}
	}
	err := l.replace(ctx, top)
	if o.aside != nil {
		changed, serr := o.aside.settle(ctx, l.f.top)
		for _, path := range changed {
			o.leaveAlone(path)
		}
		err = errors.Join(err, serr, o.aside.close(l.f))
	}
	if len(o.alone) > 0 {
		err = errors.Join(err, &ChangedError{slices.Sorted(maps.Keys(o.alone))})
	}
	return err
}

// A load is the state of one Load.
type load struct {
	f     *Directory
	r     domarkx.VersionReader
	cache cache
	out   cache

	mu          sync.Mutex
	written     map[beneath.Identity]string // files with several hard links that the load keeps: first path of each
	newest      int64                       // greatest ctime of the files that the load wrote
	top         string                      // id of the top directory
	links       []pendingLink
	directories []pendingDirectory // whose attributes are set last, parents first
	noXattrs    sync.Once          // warns that the file system has no extended attributes
	lostXattrs  sync.Once          // warns of skipped attributes
	skipped     map[string]bool    // paths that the load does not touch
}

// skip records that the load does not touch a path, even if the version has a file there.
func (l *load) skip(at string) {
	if _, left := l.f.left.Load(at); !left && l.f.observe == nil {
		return
	}
	if l.skipped == nil {
		l.skipped = map[string]bool{}
	}
	l.skipped[at] = true
}

// maxDepth limits the depth of versions.
const maxDepth = 4096

type pendingLink struct {
	path string
	want domarkx.File
}

type pendingDirectory struct {
	path   string
	have   uint32 // mode before
	mode   uint32
	xattrs []domarkx.Xattr
}

// task is a file of the version to be written.
type task struct {
	want domarkx.File
	have *record // the present file, nil for none
	rec  *record // the record afterwards
}

// directory replaces the content of an existing directory by that of the version, and fills in
// rec, its record.
func (l *load) directory(ctx context.Context, path string, want domarkx.File, depth int, rec *record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxDepth {
		return fmt.Errorf("%s: it is more than %d directories deep: %w", quoted(path), maxDepth, domarkx.ErrCorrupt)
	}
	wanted, err := l.r.Directory(ctx, want.ID)
	if err != nil {
		return fmt.Errorf("%s: %w", quoted(path), err)
	}
	if !slices.IsSortedFunc(wanted, func(a, b domarkx.File) int { return strings.Compare(a.Name, b.Name) }) {
		return fmt.Errorf("%s: its names are not sorted: %w", quoted(path), domarkx.ErrCorrupt)
	}
	wanted = slices.Clone(wanted)
	for i := range wanted {
		l.leaveAttributes(join(path, wanted[i].Name), &wanted[i])
	}
	records, tasks, err := l.fill(ctx, path, want, wanted, rec)
	if l.vanished(path, err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if t.want.Type == domarkx.Directory {
			if err := l.directory(ctx, join(path, t.want.Name), t.want, depth+1, t.rec); err != nil {
				return err
			}
		}
	}
	if len(tasks) == len(wanted) { // otherwise the directory differs from the version, and the next commit has to notice
		l.out.put(path, records)
	}
	return nil
}

// vanished reports whether another program removed or replaced an observed directory, which the load then
// leaves alone.
func (l *load) vanished(path string, err error) bool {
	gone := l.f.observe != nil && path != "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP))
	if gone {
		l.f.observe.leaveAlone(path)
	}
	return gone
}

// leave warns that the load does not write a file of the version, because its path is forbidden, or a file that is in no
// version is there.
func (l *load) leave(path string) {
	reason, _ := l.f.left.Load(path)
	text, _ := reason.(string)
	if _, over := limit.OfReason(text); over {
		l.f.warn(fmt.Sprintf("%s of the version is not written: what is there now is in no version, because it is over a limit; move it away", quoted(path)))
	}
	if l.f.inside[path] {
		l.f.warn(fmt.Sprintf("%q of the version is not written: this path is not part of the resource", path))
	}
}

// fill writes the files of a directory and creates its subdirectories. It returns their
// records, sorted by name, and its tasks, without those of files that it leaves as they are.
func (l *load) fill(ctx context.Context, path string, self domarkx.File, wanted []domarkx.File, rec *record) ([]record, []task, error) {
	d, err := l.f.top.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		l.directories = append(l.directories, pendingDirectory{path, self.Mode &^ 0o700, self.Mode, self.Xattrs})
		d, err = l.f.openToChange(path)
	}
	if err != nil {
		return nil, nil, explain(path, err)
	}
	defer d.Close()
	st, err := d.Stat("")
	if err != nil {
		return nil, nil, explain(path, err)
	}
	if err := l.f.admit(path, st); err != nil {
		return nil, nil, err
	}
	attrs, err := d.Xattrs()
	if err != nil {
		return nil, nil, explain(path, err)
	}
	*rec = record{name: rec.name, stat: st, xattrs: self.Xattrs, racy: true}
	rec.stat.Mode = self.Mode
	if st.Mode != self.Mode || !sameXattrs(attrs, self.Xattrs) {
		l.directories = append(l.directories, pendingDirectory{path, st.Mode, self.Mode, self.Xattrs})
	}
	opened := st.Mode&0o700 == 0o700
	modify := func() error { // gives this user permission to change the directory
		if opened {
			return nil
		}
		opened = true
		if st.Mode == self.Mode && sameXattrs(attrs, self.Xattrs) {
			l.directories = append(l.directories, pendingDirectory{path, st.Mode, self.Mode, self.Xattrs})
		}
		return d.Chmod(st.Mode | 0o700)
	}
	have, err := l.present(ctx, d, path, wanted, modify)
	if err != nil {
		return nil, nil, err
	}
	records := make([]record, 0, len(wanted))
	var tasks []task
	for _, f := range wanted {
		if err := checkName(path, f.Name); err != nil {
			return nil, nil, err
		}
		at := join(path, f.Name)
		if l.skipped[at] || l.f.excluded(at, f.Type == domarkx.Directory) {
			l.leave(at)
			continue
		}
		records = append(records, record{name: f.Name})
		tasks = append(tasks, task{want: f, have: have[f.Name], rec: &records[len(records)-1]})
	}
	if err := l.perform(ctx, d, path, tasks, modify); err != nil {
		return nil, nil, err
	}
	return records, tasks, nil
}

// checkName returns domarkx.ErrCorrupt for a name that would lead out of the directory, such as
// "..". The version may come from an attacker.
func checkName(directory, name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%s has a file named %q: %w", quoted(directory), name, domarkx.ErrCorrupt)
	}
	return nil
}

// present removes the files that are not in the version, and returns the records of the
// others.
func (l *load) present(ctx context.Context, d *beneath.Dir, path string, wanted []domarkx.File, modify func() error) (map[string]*record, error) {
	names, err := d.Names()
	if err != nil {
		return nil, explain(path, err)
	}
	old := l.cache.records(path)
	have := make(map[string]*record, len(names))
	for _, name := range names {
		at := join(path, name)
		st, out, err := l.f.look(d, at, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if out {
			l.skip(at)
			continue
		}
		if err != nil {
			return nil, explain(at, err)
		}
		want := fileNamed(wanted, name)
		ok := want.Name == name
		if ok && want.Type == st.Kind {
			r := &record{name: name, stat: st}
			if o := recordNamed(old, name); o != nil && o.stat.Same(st) && !o.racy {
				*r = *o
				r.stat = st
			}
			have[name] = r
			continue
		}
		if err := modify(); err != nil {
			return nil, explain(path, err)
		}
		stays, err := l.f.remove(ctx, d, path, name, st)
		if err != nil {
			return nil, err
		}
		if stays && ok && l.f.observe.isAlone(at) {
			l.skip(at)
		} else if stays && ok {
			return nil, fmt.Errorf("%s holds excluded files, but is a %v in the version: %w; move them away", quoted(at), want.Type, domarkx.ErrExists)
		}
	}
	return have, nil
}

// perform executes the tasks of a directory, regular files in parallel.
func (l *load) perform(ctx context.Context, d *beneath.Dir, path string, tasks []task, modify func() error) error {
	var files []task
	for _, t := range tasks {
		at := join(path, t.want.Name)
		switch {
		case t.want.HardLink != "":
			l.links = append(l.links, pendingLink{at, t.want})
			if t.have != nil {
				*t.rec = *t.have
			}
			t.rec.name, t.rec.racy, t.rec.id, t.rec.xattrs = t.want.Name, true, t.want.ID, t.want.Xattrs
			t.rec.stat.Kind = domarkx.Regular
			if err := modify(); err != nil {
				return explain(path, err)
			}
		case t.want.Type == domarkx.Regular:
			done, err := l.keep(ctx, d, path, t)
			if err != nil {
				return explain(at, err)
			}
			if done {
				continue
			}
			if err := modify(); err != nil {
				return explain(path, err)
			}
			files = append(files, t)
		default:
			if err := l.special(ctx, d, at, t, modify); err != nil {
				return explain(at, err)
			}
		}
	}
	return l.writeFiles(ctx, d, path, files)
}
