package dirversion

import (
	"cmp"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/limit"
)

// A Usage counts the files and bytes that a directory would add to a version.
type Usage struct {
	Path  string
	Below []*Usage      // the directories in it
	List  func() []Part // the other files in it

	own, all measures // of the other files; with itself and those below
}

// A Part is a file that is not a directory, and its size.
type Part struct {
	Path string
	Size int64
}

// measures are what the limits of versions count.
type measures struct{ files, bytes int64 }

func (m *measures) add(n measures) { m.files, m.bytes = m.files+n.files, m.bytes+n.bytes }

func (m *measures) subtract(n measures) { m.files, m.bytes = m.files-n.files, m.bytes-n.bytes }

func (m measures) exceed(l domarkx.Limits) bool {
	return l.Files > 0 && m.files > l.Files || l.Version > 0 && m.bytes > l.Version
}

// count counts a file in the directory.
func (u *Usage) count(st stat) {
	if st.kind != domarkx.Directory {
		u.own.files++
	}
	if st.kind == domarkx.Regular {
		u.own.bytes += st.size / int64(max(st.nlink, 1)) // all its links together count once
	}
}

// Count counts the files of List.
func (u *Usage) Count() {
	for _, p := range u.List() {
		u.own.add(measures{1, p.Size})
	}
}

// LeaveOut returns the paths to leave out so that a version of the directory keeps the limits, with the reasons: those
// that are the largest where it is too large, so that a directory of a million files does not displace others. It
// depends on the files only.
func LeaveOut(top *Usage, l domarkx.Limits) map[string]string {
	out := map[string]string{}
	top.sum()
	top.reduce(top.all.files-1-l.Files, l.Files, limit.ReasonFiles, func(m measures) int64 { return m.files }, out)
	top.reduce(top.all.bytes-l.Version, l.Version, limit.ReasonVersion, func(m measures) int64 { return m.bytes }, out)
	return out
}

// sum computes the measures of directories with all that is below.
func (u *Usage) sum() {
	u.all = u.own
	u.all.files++
	for _, below := range u.Below {
		below.sum()
		u.all.add(below.all)
	}
}

// reduce leaves out what one limit demands.
func (u *Usage) reduce(excess, most int64, reason string, of func(measures) int64, out map[string]string) {
	if most == 0 || excess <= 0 {
		return
	}
	// Find the innermost directory that alone is over by that much.
	above := []*Usage{u}
	at := u
	for {
		var next *Usage
		for _, below := range at.Below {
			if next == nil || of(below.all) > of(next.all) {
				next = below
			}
		}
		if next == nil || of(next.all) < excess {
			break
		}
		above, at = append(above, next), next
	}
	drop := func(path string, m measures) {
		out[path] = reason
		for _, a := range above {
			a.all.subtract(m)
		}
		excess -= of(m)
	}
	if at != u && reason == limit.ReasonFiles { // some of its many files are of no use without the others
		above = above[:len(above)-1]
		parent := above[len(above)-1]
		parent.Below = slices.DeleteFunc(parent.Below, func(b *Usage) bool { return b == at })
		drop(at.Path, at.all)
		return
	}
	type part struct {
		path string
		measures
		directory *Usage
	}
	var parts []part
	for _, below := range at.Below {
		parts = append(parts, part{below.Path, below.all, below})
	}
	for _, p := range at.List() {
		if out[p.Path] == "" {
			parts = append(parts, part{p.Path, measures{1, p.Size}, nil})
		}
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(of(b.measures), of(a.measures)), strings.Compare(b.path, a.path))
	})
	for _, p := range parts {
		if excess <= 0 {
			return
		}
		drop(p.path, p.measures)
		if p.directory != nil {
			at.Below = slices.DeleteFunc(at.Below, func(b *Usage) bool { return b == p.directory })
		}
	}
}
