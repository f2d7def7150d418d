//go:build linux || darwin

package versions

import (
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const (
	firstPatience = 8       // folders that are listed in full before names are tried
	morePatience  = 8       // times as many after they were not enough
	maxPatience   = 1 << 20 // …
	maxBrief      = 128     // entries of a folder that is listed briefly
	enough        = 8       // files that are looked up before all folders are listed anew
	calm          = 2 * time.Second
)

// A glance finds out whether somebody wants more of files than their names.
//
// The kernel makes an inode of every file that it is told about in full, which takes
// longer than all else about a listing. Who reads or looks at the files one by one
// is quicker by that: it saves a message for each. Who only wants the names, as find
// does, waits for nothing. Both look the same but for what they ask afterwards. So
// the first folders are listed in full; when nobody asked for any content by
// then, names are all that is told of the files in the next ones; when files are looked
// up in these, the kernel is made to list them anew. Folders in folders are always told
// in full.
//
// It is guarded by FS.mu.
type glance struct {
	folders  int // that were listed since somebody wanted a file
	patience int // how many are listed in full
	last     time.Time
	looked   int                // files that were looked up in brief folders
	brief    map[*node]struct{} // folders of which the kernel has only the names of files
	renew    chan []*node
}

func newGlance() *glance {
	return &glance{patience: firstPatience, brief: map[*node]struct{}{}, renew: make(chan []*node, 1)}
}

// lists notes that a folder is being listed from its beginning, and decides how.
func (g *glance) lists(n *node, now time.Time) {
	if now.Sub(g.last) > calm {
		g.folders, g.patience = 0, firstPatience
	}
	g.last = now
	g.folders++
	n.brief = g.folders > g.patience && n.kind == inside && len(n.listing.entries) <= maxBrief
	if n.brief {
		g.brief[n] = struct{}{}
	} else {
		delete(g.brief, n)
	}
}

// wants notes that somebody wanted a file of a folder.
func (g *glance) wants(folder *node) {
	g.folders = 0
	if !folder.brief {
		return
	}
	if g.looked++; g.looked < enough {
		return
	}
	all := make([]*node, 0, len(g.brief))
	for n := range g.brief {
		all = append(all, n)
	}
	select {
	case g.renew <- all:
	default: // soon: somebody goes on looking
		return
	}
	for _, n := range all {
		n.brief = false
	}
	clear(g.brief)
	g.looked, g.patience = 0, min(g.patience*morePatience, maxPatience)
}

// forget forgets a folder that the kernel has forgotten.
func (g *glance) forget(n *node) { delete(g.brief, n) }

// relist makes the kernel list folders anew. One that it does not know any more it
// will list anyway.
func (p *pusher) relist(s *fuse.Server) {
	for {
		select {
		case all := <-p.fs.glance.renew:
			for _, n := range all {
				if p.over() {
					return
				}
				_ = s.InodeNotify(n.id, 0, 0)
			}
		case <-p.ended:
			return
		}
	}
}
