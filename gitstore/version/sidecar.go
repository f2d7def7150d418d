package version

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// sidecarMagic is the beginning of a sidecar.
const sidecarMagic = "domarkx-folder 1"

const (
	maxSidecar    = 64 << 20 // bytes
	maxXattrName  = 255      // bytes, as in xattr(7)
	maxXattrValue = 64 << 10
	maxTarget     = 64 << 10 // bytes of a symbolic link's target
)

// Modes that need no entry in a sidecar.
const (
	modeFile      = 0o644
	modeExec      = 0o755
	modeDirectory = 0o755
	modeSymlink   = 0o777
)

// A child is a file in a directory, with the ids of its objects in place of the File's ID.
type child struct {
	domarkx.File
	object odb.ID // id in the tree entry; zero if there is no entry
	chunks odb.ID // id of the chunk tree; zero if the content is not in chunks
	plain  bool   // whether the file is a symbolic link with the tree entry of a regular file
}

// An owner is the owner of a file. It is the zero owner if the resource does not store owners.
type owner struct {
	known    bool
	uid, gid uint32
}

func ownerOf(f *domarkx.File) owner {
	if !f.HasOwner {
		return owner{}
	}
	return owner{true, f.UID, f.GID}
}

func compareOwners(a, b owner) int {
	if a.known != b.known {
		return map[bool]int{true: 1, false: -1}[a.known]
	}
	return cmp.Or(cmp.Compare(a.uid, b.uid), cmp.Compare(a.gid, b.gid))
}

// A class is a set of files in a directory for which a sidecar has one default mode.
type class int

const (
	classFile class = iota // also FIFOs and devices
	classExec
	classDirectory
	classSymlink
	classes
)

var (
	classNames = [classes]string{classFile: "file", classExec: "exec", classDirectory: "folder"}
	classModes = [classes]uint32{modeFile, modeExec, modeDirectory, modeSymlink}
)

func classOf(f *domarkx.File) class {
	switch {
	case f.Type == domarkx.Directory:
		return classDirectory
	case f.Type == domarkx.Symlink:
		return classSymlink
	case f.Type == domarkx.Regular && f.Mode&0o100 != 0:
		return classExec
	}
	return classFile
}

// defaults are the mode and owner of the files of a directory for which its sidecar has no other.
type defaults struct {
	modes [classes]uint32
	owner owner
}

// most returns the value with the highest count. Of several such values it returns first if that is one of them, otherwise
// the smallest. Without any value it returns first.
func most[T comparable](counts map[T]int, first T, compare func(a, b T) int) T {
	best, count := first, counts[first]
	for v, n := range counts {
		if n > count || n == count && best != first && compare(v, best) < 0 {
			best, count = v, n
		}
	}
	return best
}

func defaultsOf(children []child) defaults {
	var modes [classes]map[uint32]int
	for c := range modes {
		modes[c] = map[uint32]int{}
	}
	owners := map[owner]int{}
	for i := range children {
		f := &children[i].File
		modes[classOf(f)][f.Mode]++
		owners[ownerOf(f)]++
	}
	d := defaults{modes: classModes, owner: most(owners, owner{}, compareOwners)}
	for c := range classSymlink {
		d.modes[c] = most(modes[c], classModes[c], cmp.Compare[uint32])
	}
	return d
}

// encodeSidecar returns the sidecar of a directory, which contains the attributes of its files that a Git tree cannot
// express. children must be sorted by name. self is the top directory of a resource, whose own attributes the sidecar
// contains too, or nil. encodeSidecar returns nil if the sidecar would be empty, except for an empty directory, since Git's
// commands drop empty trees.
func encodeSidecar(self *domarkx.File, children []child) []byte {
	d := defaultsOf(children)
	b := []byte(sidecarMagic)
	for c := range classSymlink {
		if d.modes[c] != classModes[c] {
			b = fmt.Appendf(b, " %s=%o", classNames[c], d.modes[c])
		}
	}
	if d.owner.known {
		b = fmt.Appendf(b, " owner=%d:%d", d.owner.uid, d.owner.gid)
	}
	b = append(b, '\n')
	needed := len(b) > len(sidecarMagic)+1 || len(children) == 0
	if self != nil {
		own := defaults{modes: classModes}
		if row := appendRowFlags([]byte("."), &child{File: *self}, &own); len(row) > 1 {
			b, needed = append(append(b, row...), '\n'), true
		}
	}
	for i := range children {
		start := len(b)
		b = appendEscaped(b, children[i].Name)
		named := len(b)
		if b = appendRowFlags(b, &children[i], &d); len(b) == named {
			b = b[:start]
			continue
		}
		b, needed = append(b, '\n'), true
	}
	if !needed {
		return nil
	}
	return b
}

// appendRowFlags appends the attributes of a file that neither its tree entry nor the defaults express.
func appendRowFlags(b []byte, c *child, d *defaults) []byte {
	switch {
	case c.Type == domarkx.Fifo:
		b = append(b, " type=fifo"...)
	case c.Type == domarkx.CharDevice:
		b = fmt.Appendf(b, " type=char:%d:%d", c.Major, c.Minor)
	case c.Type == domarkx.BlockDevice:
		b = fmt.Appendf(b, " type=block:%d:%d", c.Major, c.Minor)
	case c.plain:
		b = append(b, " type=symlink"...)
	}
	if c.Mode != d.modes[classOf(&c.File)] {
		b = append(b, " mode="...)
		b = strconv.AppendUint(b, uint64(c.Mode), 8)
	}
	if o := ownerOf(&c.File); o != d.owner {
		if o.known {
			b = fmt.Appendf(b, " owner=%d:%d", o.uid, o.gid)
		} else {
			b = append(b, " owner=-"...)
		}
	}
	if c.HardLink != "" {
		b = append(b, " link="...)
		for i, name := range strings.Split(c.HardLink, "/") {
			if i > 0 {
				b = append(b, '/')
			}
			b = appendEscaped(b, name)
		}
	}
	for _, x := range c.Xattrs {
		b = append(b, " xattr="...)
		b = appendEscaped(b, x.Name)
		b = append(b, ':')
		b = base64.RawURLEncoding.AppendEncode(b, x.Value)
	}
	return b
}
