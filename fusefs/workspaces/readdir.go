//go:build linux || darwin

package workspaces

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// ReadDir lists a directory.
func (f *FS) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.readDir(in, out, false)
}

// ReadDirPlus lists a directory, with the attributes of every entry that never changes.
// The kernel then creates an inode for each entry: this takes longer than a listing of
// the names, but programs that then look at the files or read them need no message for
// each.
func (f *FS) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.readDir(in, out, true)
}

func (f *FS) readDir(in *fuse.ReadIn, out *fuse.DirEntryList, plus bool) fuse.Status {
	n := f.node(in.NodeId)
	if n == nil {
		return fuse.ENOENT
	}
	if n.meta.mode != dirMode {
		return fuse.ENOTDIR
	}
	ctx := context.Background()
	if n.kind == kindDirectory || n.kind == kindByID {
		l, err := f.listDirectory(ctx, n, in.Offset)
		if err != nil {
			return f.fail("listing workspaces", n, "", err)
		}
		addNames(n, l, in.Offset, out, plus)
		return fuse.OK
	}
	l, err := f.list(ctx, n)
	if err != nil {
		return f.fail("reading a directory of a version", n, "", err)
	}
	f.addEntries(n, l, in.Offset, out, plus)
	return fuse.OK
}

// add adds an entry without attributes.
func add(out *fuse.DirEntryList, e fuse.DirEntry, plus bool) bool {
	if plus {
		return out.AddDirLookupEntry(e) != nil
	}
	return out.AddDirEntry(e)
}

// dots returns entry 0 or 1 of every directory.
func dots(n *node, i uint64) fuse.DirEntry {
	if i == 0 || n.parent == nil {
		return fuse.DirEntry{Name: []string{".", ".."}[i], Mode: syscall.S_IFDIR, Ino: n.ino}
	}
	return fuse.DirEntry{Name: "..", Mode: syscall.S_IFDIR, Ino: n.parent.ino}
}

// addNames adds the entries from an offset, which combines the number of the listing and
// the index of the next entry.
func addNames(n *node, l dirListing, off uint64, out *fuse.DirEntryList, plus bool) {
	for i := off & (1<<32 - 1); i < uint64(len(l.names))+2; i++ {
		var e fuse.DirEntry
		if i < 2 {
			e = dots(n, i)
		} else {
			e = l.names[i-2]
		}
		e.Off = l.gen<<32 | (i + 1)
		if !add(out, e, plus) {
			return
		}
	}
}

// addEntries adds the entries from an offset, the index of the next entry.
func (f *FS) addEntries(n *node, l *listing, off uint64, out *fuse.DirEntryList, plus bool) {
	for ; off < 2; off++ {
		if !add(out, dots(n, off), plus) {
			return
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := off - 2; i < uint64(len(l.entries)); i++ {
		e := fuse.DirEntry{Name: l.entries[i].name, Mode: l.entries[i].meta.mode, Ino: l.entries[i].ino}
		if plus {
			filled := out.AddDirLookupEntry(e)
			if filled == nil {
				return
			}
			f.fillEntry(f.child(n, l, int(i)), filled)
		} else if !out.AddDirEntry(e) {
			return
		}
	}
}
