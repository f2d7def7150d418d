package gitrepository

import (
	"bytes"
	"encoding/binary"

	"github.com/domarkx/domarkx/gitstore/oid"
)

// Sizes and offsets in an index (gitformat-index(5)), in bytes.
const (
	headerSize   = 12
	modeAt       = 24
	sizeEnd      = 40 // end of the fields that depend on the machine, except the mode
	flagsSize    = 2
	flagExtended = 0x4000
	flagName     = 0x0fff
)

// canonical returns an index without cached data about the machine's files and without data that
// can be derived. It returns an index that it does not know unchanged.
func canonical(index []byte) []byte {
	for _, by := range []oid.Hash{oid.SHA1, oid.SHA256} {
		if kept := canonicalOf(by, index); kept != nil {
			return kept
		}
	}
	return index
}

// canonicalOf is canonical for an index with ids of a hash function, which its checksum shows. It returns nil for any
// other.
func canonicalOf(by oid.Hash, index []byte) []byte {
	end := len(index) - by.Size()
	if end < headerSize || string(index[:4]) != "DIRC" || !hasChecksum(by, index) {
		return nil
	}
	version, count := binary.BigEndian.Uint32(index[4:]), binary.BigEndian.Uint32(index[8:])
	if version < 2 || version > 4 {
		return nil
	}
	out := bytes.Clone(index[:end])
	at := headerSize
	for range count {
		size, ok := entry(by, out[at:], version)
		if !ok {
			return nil
		}
		clear(out[at : at+modeAt])
		clear(out[at+modeAt+4 : at+sizeEnd])
		at += size
	}
	kept := out[:at:at]
	for at < end {
		if end-at < 8 {
			return nil
		}
		name, size := string(out[at:at+4]), binary.BigEndian.Uint32(out[at+4:])
		if uint64(size) > uint64(end-at-8) || name == "link" {
			return nil
		}
		whole := out[at : at+8+int(size)]
		// Git may drop extensions that begin with a capital; only REUC cannot be derived again.
		if name == "REUC" || name[0] < 'A' || name[0] > 'Z' {
			kept = append(kept, whole...)
		}
		at += len(whole)
	}
	return append(kept, checksum(by, kept)...)
}

// hasChecksum reports whether an index ends with its checksum by a hash function, or with the zeros of index.skipHash.
func hasChecksum(by oid.Hash, index []byte) bool {
	end := len(index) - by.Size()
	sum := index[end:]
	return bytes.Equal(sum, make([]byte, by.Size())) || bytes.Equal(sum, checksum(by, index[:end]))
}

func checksum(by oid.Hash, data []byte) []byte {
	sum := by.New()
	sum.Write(data)
	return sum.Sum(nil)
}

// entry returns the size of the entry at the beginning of b, with an id of a hash function.
func entry(by oid.Hash, b []byte, version uint32) (int, bool) {
	flagsAt := sizeEnd + by.Size() // the id is before the flags
	entrySize := flagsAt + flagsSize
	if len(b) < entrySize {
		return 0, false
	}
	flags := binary.BigEndian.Uint16(b[flagsAt:])
	at := entrySize
	if version >= 3 && flags&flagExtended != 0 {
		at += 2
	}
	if version == 4 { // the number of bytes to remove from the previous name, then the rest
		for at < len(b) && b[at]&0x80 != 0 {
			at++
		}
		at++
	}
	if at >= len(b) {
		return 0, false
	}
	length := bytes.IndexByte(b[at:], 0)
	if length < 0 {
		return 0, false
	}
	if version == 4 {
		return at + length + 1, true
	}
	if n := int(flags & flagName); n != flagName && n != length {
		return 0, false
	}
	size := (at + length + 8) &^ 7
	return size, size <= len(b)
}
