package limit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Usage is the size that a directory would add to a version.
type Usage struct {
	Path  string
	Below []*Usage      // the directories in it
	Own   Measures      // of the other files in it
	List  func() []Part // these files

	all Measures // of the directory with everything below
}

// A Part is a file that is not a directory, and its size.
type Part struct {
	Path string
	Size int64
}

// Measures are what the limits of versions count.
type Measures struct{ Files, Bytes int64 }

// Add adds to the Measures.
func (m *Measures) Add(n Measures) { m.Files, m.Bytes = m.Files+n.Files, m.Bytes+n.Bytes }

// LeaveOut returns the paths to leave out so that a version of the directory keeps the limits, with the reasons: those
// that are the largest where it is too large, so that a directory of a million files does not displace others. It
// depends on the files only.
func LeaveOut(top *Usage, l domarkx.Limits) map[string]string {
	out := map[string]string{}
	top.sum()
	top.reduce(top.all.Files-1-l.Files, l.Files, ReasonFiles, func(m Measures) int64 { return m.Files }, out)
	top.reduce(top.all.Bytes-l.Version, l.Version, ReasonVersion, func(m Measures) int64 { return m.Bytes }, out)
	return out
}

// sum computes the measures of directories with all that is below.
func (u *Usage) sum() {
	u.all = u.Own
	u.all.Files++
	for _, below := range u.Below {
		below.sum()
		u.all.Add(below.all)
	}
}

// reduce leaves out what one limit demands.
func (u *Usage) reduce(excess, most int64, reason string, of func(Measures) int64, out map[string]string) {
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
	drop := func(path string, m Measures) {
		out[path] = reason
		for _, a := range above {
			a.all.Add(Measures{-m.Files, -m.Bytes})
		}
		excess -= of(m)
	}
	if at != u && reason == ReasonFiles { // some of its many files are of no use without the others
		above = above[:len(above)-1]
		parent := above[len(above)-1]
		parent.Below = slices.DeleteFunc(parent.Below, func(b *Usage) bool { return b == at })
		drop(at.Path, at.all)
		return
	}
	type part struct {
		path string
		Measures
		directory *Usage
	}
	var parts []part
	for _, below := range at.Below {
		parts = append(parts, part{below.Path, below.all, below})
	}
	for _, p := range at.List() {
		if out[p.Path] == "" {
			parts = append(parts, part{p.Path, Measures{1, p.Size}, nil})
		}
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(of(b.Measures), of(a.Measures)), strings.Compare(b.path, a.path))
	})
	for _, p := range parts {
		if excess <= 0 {
			return
		}
		drop(p.path, p.Measures)
		if p.directory != nil {
			at.Below = slices.DeleteFunc(at.Below, func(b *Usage) bool { return b == p.directory })
		}
	}
}
