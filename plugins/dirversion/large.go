package dirversion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
	"github.com/domarkx/domarkx/plugins/limit"
)

// LeftOut returns the files and directories that the last commit left out although nothing excludes them and
// Git does not ignore them, sorted by path.
func (f *Directory) LeftOut() (list []domarkx.LeftOut) {
	for path, reason := range f.left.Range {
		list = append(list, domarkx.LeftOut{Path: path.(string), Reason: reason.(string)})
	}
	slices.SortFunc(list, func(a, b domarkx.LeftOut) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// begin forgets what the last walk left out.
func (f *Directory) begin() {
	f.observe.begin()
	f.left.Clear()
	f.over = nil
}

// overLimit returns the reason for which a file is over a limit; "" if it is not.
func (f *Directory) overLimit(at string, st beneath.Stat) string {
	if st.Kind == domarkx.Regular && f.limits.File > 0 && st.Size > f.limits.File {
		return limit.ReasonFile
	}
	return f.over[at]
}

// warnOfLeftOut warns of paths over a limit.
func (f *Directory) warnOfLeftOut() { WarnOfLeftOut(f.LeftOut(), f.limits, f.warn) }

// WarnOfLeftOut warns of paths that a version leaves out because they exceed a limit.
func WarnOfLeftOut(list []domarkx.LeftOut, l domarkx.Limits, warn func(message string)) {
	for _, reason := range []struct{ name, why string }{
		{limit.ReasonFile, "because they have " + limit.File.Over(l.File)},
		{limit.ReasonFiles, "which would have " + limit.Files.Over(l.Files)},
		{limit.ReasonVersion, "which would have " + limit.Version.Over(l.Version)},
	} {
		var paths []string
		for _, f := range list {
			if f.Reason == reason.name {
				paths = append(paths, f.Path)
			}
		}
		if len(paths) > 0 {
			warn(fmt.Sprintf("left out of the version, %s: %s", reason.why, listed(paths)))
		}
	}
}

// fit finds out what has to be left out so that a version keeps the limits.
func (f *Directory) fit(ctx context.Context) error {
	if f.limits.Files == 0 && f.limits.Version == 0 {
		return nil
	}
	top, err := f.newScan(nil).survey(ctx, false)
	if err == nil {
		f.reduce(top)
	}
	return err
}

// reduce chooses the paths to leave out if a survey found too much. It reports whether there are any.
func (f *Directory) reduce(top *node) bool {
	if !top.exceeds(f.limits) {
		return false
	}
	f.over = limit.LeaveOut(f.usageOf(top), f.limits)
	return true
}

// exceeds reports whether a directory is over the limits of a version.
func (n *node) exceeds(l domarkx.Limits) bool {
	all := limit.Measures{Files: -1} // without the top
	for todo := []*node{n}; len(todo) > 0; {
		last := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], last.directories...)
		all.Add(last.own)
		all.Files++
	}
	return all.Exceed(l)
}

// usageOf returns the usage of a directory with those below.
func (f *Directory) usageOf(n *node) *limit.Usage {
	u := &limit.Usage{Path: n.path, Own: n.own, List: func() []limit.Part { return f.parts(n.path) }}
	for _, below := range n.directories {
		u.Below = append(u.Below, f.usageOf(below))
	}
	return u
}

// parts returns the files in a directory that a version would contain, without directories.
func (f *Directory) parts(path string) (parts []limit.Part) {
	d, err := f.top.Open(path)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Names()
	for _, name := range names {
		at := join(path, name)
		if st, out, err := f.look(d, at, name); err == nil && !out && st.Kind != 0 && st.Kind != domarkx.Directory {
			parts = append(parts, limit.Part{Path: at, Size: sizeOf(&record{stat: st})})
		}
	}
	return parts
}

// longRead is how long a commit reads before it says what.
const longRead = 5 * time.Second

// reportLong says which file is being read if the scan takes long. The caller must stop the timer.
func (s *scan) reportLong() *time.Timer {
	return time.AfterFunc(longRead, func() {
		if at := s.reading.Load(); at != nil {
			s.f.warn(fmt.Sprintf("still reading files for a version, now %s", quoted(*at)))
		}
	})
}
