// Package packfile decodes the headers of packs and of their entries (gitformat-pack(5)), with ids of either hash.
package packfile

import (
	"encoding/binary"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
)

// HeaderSize is the size in bytes of the header of a pack. The first entry follows it.
const HeaderSize = 12

// Types of entries that are not types of objects. The others, 1 to 4, are commits, trees, blobs and tags.
const (
	Tag      = 4 // the last type of objects
	OfsDelta = 6
	RefDelta = 7
)

// Header returns the number of entries that a pack declares. It returns [domarkx.ErrCorrupt] if data is not a pack, and
// [domarkx.ErrUnsupported] for an unknown version.
func Header(data []byte) (entries uint32, err error) {
	if len(data) < HeaderSize || string(data[:4]) != "PACK" {
		return 0, errCorrupt("it is not a pack")
	}
	if version := binary.BigEndian.Uint32(data[4:]); version != 2 && version != 3 {
		return 0, fmt.Errorf("pack: %w: version %d", domarkx.ErrUnsupported, version)
	}
	return binary.BigEndian.Uint32(data[8:]), nil
}

func errCorrupt(what string) error { return fmt.Errorf("pack: %w: %s", domarkx.ErrCorrupt, what) }

// An Entry is the header of an entry.
type Entry struct {
	Kind   byte   // 1 to 4, OfsDelta or RefDelta
	Size   int64  // uncompressed size of the content, or of the delta
	Base   int64  // of an OfsDelta, the offset of its base
	BaseID []byte // of a RefDelta, the id of its base
	Packed []byte // the data after the header
}

// ReadEntry returns the entry at an offset of a pack. rest is the data from there to the checksum at the end of the
// pack, and idSize the size of ids in bytes.
func ReadEntry(rest []byte, at int64, idSize int) (Entry, error) {
	if len(rest) == 0 {
		return Entry{}, errCorrupt("no object starts there")
	}
	e := Entry{Kind: rest[0] >> 4 & 7, Size: int64(rest[0] & 15)}
	n := 1
	for shift := 4; rest[n-1]&0x80 != 0; shift += 7 {
		if n == len(rest) || shift > 56 {
			return Entry{}, errCorrupt("its size is truncated")
		}
		e.Size |= int64(rest[n]&0x7f) << shift
		n++
	}
	rest = rest[n:]
	switch {
	case e.Kind >= 1 && e.Kind <= Tag:
	case e.Kind == OfsDelta:
		back, n := int64(0), 0
		for {
			if n == len(rest) || n > 7 {
				return Entry{}, errCorrupt("the offset of its base is truncated")
			}
			c := rest[n]
			n++
			back = back<<7 | int64(c&0x7f)
			if c&0x80 == 0 {
				break
			}
			back++
		}
		if back <= 0 || back > at-HeaderSize {
			return Entry{}, errCorrupt("its base is outside the pack")
		}
		e.Base, rest = at-back, rest[n:]
	case e.Kind == RefDelta:
		if len(rest) < idSize {
			return Entry{}, errCorrupt("the id of its base is truncated")
		}
		e.BaseID, rest = rest[:idSize], rest[idSize:]
	default:
		return Entry{}, errCorrupt("its type is unknown")
	}
	e.Packed = rest
	return e, nil
}
