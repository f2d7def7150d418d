package dirversion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
	"github.com/domarkx/domarkx/plugins/gitignore"
)

// Observe configures a directory that other programs work in: a work tree of Git. Versions leave out
// what Git ignores, and files and directories that cannot or should not be kept ([Directory.LeftOut]), instead of
// failing. Loading a version touches nothing of that, and nothing that changed since the last commit.
// Files are not synced: the stat cache must not be used after a restart of the system.
type Observe struct {
	Rules   *gitignore.Stack                       // for the whole work tree, such as info/exclude
	Tracked func(path string, directory bool) bool // whether Git tracks a path, or a file below it; nil for none
	Protect func(path string, directory bool) bool // further paths that a load does not touch; nil for none
	// Aside is a directory for the temporary files of a load, which Git does not list, best on the file system of the observed
	// directory. Load makes it. One process at a time may use it. Without it, a load overwrites what changes meanwhile.
	Aside string
}

// The reasons for which files are left out, besides those of package limit.
const (
	ReasonNested     = "nested repository"
	ReasonUnreadable = "unreadable"
	ReasonChanging   = "changing"
	ReasonMount      = "mount point"
	ReasonSpecial    = "special"
)

// observation is the state of an observed directory.
type observation struct {
	Observe

	mu         sync.RWMutex
	rules      *gitignore.Tree
	saved      cache           // stat cache of the last commit; nil unless a load is running
	aside      *aside          // nil unless a load is running
	alone      map[string]bool // paths that the load left as they are because they changed
	recentPath string          // the directory of recent
	recent     []record        // what saved has of it
	plain      bool            // do not exchange files, as on file systems that cannot
}

// observeAgain forgets the rules of the last walk.
func (f *Directory) observeAgain() {
	o := f.observe
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.recent = nil
	o.rules, o.saved, o.aside, o.alone = gitignore.NewTree(o.Rules, f.readRules), nil, nil, map[string]bool{}
}

// readRules reads the patterns in a directory; nil if there are none. Like Git, it does not follow symbolic
// links.
func (f *Directory) readRules(directory string) []byte {
	data, err := f.readPatterns(directory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.warn(fmt.Sprintf("the patterns in %s do not apply: %v", quoted(join(directory, gitignore.FileName)), beneath.Bare(err)))
	}
	return data
}

func (f *Directory) readPatterns(directory string) ([]byte, error) {
	d, err := f.top.Open(directory)
	if err != nil {
		return nil, nil //nolint:nilerr // whoever reads the directory reports the error
	}
	defer d.Close()
	if st, err := d.Stat(gitignore.FileName); err != nil {
		return nil, err
	} else if st.Kind != domarkx.Regular {
		return nil, gitignore.ErrNotRegular // opening a device may have an effect
	}
	file, err := d.OpenFile(gitignore.FileName)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if st, err := file.Stat(); err != nil || st.Kind != domarkx.Regular {
		return nil, errors.Join(err, gitignore.ErrNotRegular)
	}
	return io.ReadAll(io.LimitReader(file, gitignore.MaxSize))
}

// ignored reports whether Git ignores a path, given that it ignores none of its directories.
func (f *Directory) ignored(at string, directory bool) bool {
	return f.observe.rules.Ignores(at, directory) && (f.observe.Tracked == nil || !f.observe.Tracked(at, directory))
}

// observes reports whether an observed directory's versions omit a file that Git does not ignore.
// It records the reason. err is the error of the file's stat.
func (f *Directory) observes(d *beneath.Dir, at, name string, st beneath.Stat, err error) bool {
	reason := ""
	switch {
	case errors.Is(err, beneath.ErrMount):
		reason = ReasonMount
	case errors.Is(err, fs.ErrPermission):
		reason = ReasonUnreadable
	case err != nil:
		return false
	case st.Kind == domarkx.Directory:
		reason = leftDirectory(d, name, st)
	case st.Kind != domarkx.Regular && st.Kind != domarkx.Symlink:
		reason = ReasonSpecial
	}
	if reason != "" {
		f.left.Store(at, reason)
	}
	return reason != ""
}

// leftDirectory returns the reason why versions omit a directory; "" if they contain it.
func leftDirectory(d *beneath.Dir, name string, st beneath.Stat) string {
	_, err := d.Stat(name + "/.git")
	switch {
	case err == nil || errors.Is(err, beneath.ErrMount):
		return ReasonNested
	case errors.Is(err, fs.ErrPermission), st.Mode&0o444 == 0 && os.Geteuid() != 0:
		return ReasonUnreadable
	}
	return ""
}

// tolerate reports whether an error of reading a file leaves it out instead of ending a commit.
func (f *Directory) tolerate(at string, err error) bool {
	if f.observe == nil || err == nil {
		return false
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		f.left.Store(at, ReasonUnreadable)
	case errors.Is(err, domarkx.ErrConflict):
		f.left.Store(at, ReasonChanging)
	case errors.Is(err, beneath.ErrMount):
		f.left.Store(at, ReasonMount)
	default:
		return false
	}
	return true
}

// protected reports whether a load must not touch a path for a reason other than Git's ignore
// rules.
func (f *Directory) protected(at string, directory bool) bool {
	o := f.observe
	if o.saved == nil { // no load is running
		return false
	}
	_, left := f.left.Load(at)
	return left || o.Protect != nil && o.Protect(at, directory)
}

// captured returns the record of the last commit for a file that a load would remove or replace. It returns
// false if the file changed after that commit. A directory may have other files.
func (f *Directory) captured(at string, st beneath.Stat) (*record, bool) {
	if f.observe == nil || f.observe.saved == nil {
		return nil, true
	}
	r := f.observe.savedRecord(at)
	if r == nil || r.stat.Kind != st.Kind || st.Kind == domarkx.Directory && r.stat.Ino != st.Ino || st.Kind != domarkx.Directory && !r.stat.Same(st) {
		return nil, false
	}
	return r, true
}

// savedRecord returns the record of the last commit for a file, or nil.
func (o *observation) savedRecord(at string) *record {
	directory, name := split(at)
	if at == "" {
		directory, name = topDirectory, ""
	}
	o.mu.Lock()
	if o.recent == nil || o.recentPath != directory {
		o.recent, o.recentPath = o.saved.records(directory), directory
	}
	records := o.recent
	o.mu.Unlock()
	return recordNamed(records, name)
}

// leaveAlone notes that a load leaves a file as it is because another program changed it.
func (o *observation) leaveAlone(at string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.alone[at] = true
}

// isAlone reports whether a load left a path, or a file below it, as it is.
func (o *observation) isAlone(at string) bool {
	if o == nil {
		return false
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	for path := range o.alone {
		if path == at || strings.HasPrefix(path, at+"/") {
			return true
		}
	}
	return false
}

// unlink removes a file that is not a directory. It reports whether the file stays because another
// program changed it.
func (f *Directory) unlink(ctx context.Context, d *beneath.Dir, at string, st beneath.Stat) (stays bool, err error) {
	was, ok := f.captured(at, st)
	switch {
	case !ok:
		stays = true
	case f.observe != nil && f.observe.aside != nil:
		stays, err = f.observe.aside.take(ctx, d, at, was)
	default:
		_, name := split(at)
		if err = d.Unlink(name); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if stays {
		f.observe.leaveAlone(at)
	}
	return stays, err
}

// A ChangedError is the error of a load that found files changed since the last commit. It left them as they are, and
// loaded the others. It matches [domarkx.ErrConflict].
type ChangedError struct{ Paths []string }

func (e *ChangedError) Error() string {
	text := listed(e.Paths)
	if len(e.Paths) > 1 {
		return text + " changed meanwhile, and were left as they are"
	}
	return text + " changed meanwhile, and was left as it is"
}

// Unwrap returns domarkx.ErrConflict.
func (e *ChangedError) Unwrap() error { return domarkx.ErrConflict }
