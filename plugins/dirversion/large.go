package dirversion

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	f.observeAgain()
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

// fit scans the directory, and again without what has to be left out so that a version keeps the limits.
func (f *Directory) fit(ctx context.Context) (*scan, error) {
	s, err := f.scan(ctx, false)
	if err != nil {
		return nil, err
	}
	if f.over = limit.LeaveOut(&s.top.usage, f.limits); len(f.over) == 0 {
		return s, nil
	}
	return f.scan(ctx, false)
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
