//go:build linux || darwin

package versions

import (
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx"
)

// For the tests of what needs no mount.
const (
	BlockSize = blockSize
	MaxOpen   = maxOpen
)

// NewContents returns what keeps contents open.
var NewContents = newContents

// Read fills dst with what a content has from an offset on.
var Read = (*contents).read

// Prepare reads a content before it is wanted.
var Prepare = (*contents).prepare

// Close closes all.
var Close = (*contents).close

// NewBlocks returns a content that is read in blocks.
func NewBlocks(of domarkx.Content) domarkx.Content { return newBlocks(of, new(sync.Pool)) }

// Lend returns bytes of a content that NewBlocks returned, where they are.
func Lend(of domarkx.Content, off int64, size int) (fuse.ReadResult, error) {
	return of.(*blocks).lend(off, size)
}

// Inode returns an inode number.
var Inode = inode

// A Glance is fed with what is asked of folders of the same kind.
type Glance struct {
	*glance
	folders []*node
}

// NewGlance returns one for a number of folders with so many files each.
func NewGlance(folders, files int) *Glance {
	g := &Glance{glance: newGlance()}
	for range folders {
		g.folders = append(g.folders, &node{kind: inside, listing: &listing{entries: make([]entry, files)}})
	}
	return g
}

// Lists says that a folder is listed, and reports whether only names are told.
func (g *Glance) Lists(folder int, now time.Time) bool {
	n := g.folders[folder]
	g.lists(n, now)
	return n.brief
}

// Wants says that somebody wanted a file of a folder, and returns how many folders
// are to be listed anew for that.
func (g *Glance) Wants(folder int) int {
	g.wants(g.folders[folder])
	select {
	case all := <-g.renew:
		return len(all)
	default:
		return 0
	}
}
