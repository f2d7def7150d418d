package gitrepository

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
)

// Sizes and offsets in an index (gitformat-index(5)), in bytes.
const (
	headerSize   = 12
	entrySize    = 62 // size before the name, without extended flags
	modeAt       = 24
	sizeEnd      = 40 // end of the fields that depend on the machine, except the mode
	flagsAt      = 60
	hashSize     = sha1.Size
	flagExtended = 0x4000
	flagName     = 0x0fff
)

// canonical returns an index without cached data about the machine's files and without data that
// can be derived. It returns an index of an unknown version unchanged.
func canonical(index []byte) []byte {
	if len(index) < headerSize+hashSize || string(index[:4]) != "DIRC" {
		return index
	}
	version, count := binary.BigEndian.Uint32(index[4:]), binary.BigEndian.Uint32(index[8:])
	if version < 2 || version > 4 {
		return index
	}
	end := len(index) - hashSize
	out := bytes.Clone(index[:end])
	at := headerSize
	for range count {
		size, ok := entry(out[at:], version)
		if !ok {
			return index
		}
		clear(out[at : at+modeAt])
		clear(out[at+modeAt+4 : at+sizeEnd])
		at += size
	}
	kept := out[:at:at]
	for at < end {
		if end-at < 8 {
			return index
		}
		name, size := string(out[at:at+4]), binary.BigEndian.Uint32(out[at+4:])
		if uint64(size) > uint64(end-at-8) || name == "link" {
			return index
		}
		whole := out[at : at+8+int(size)]
		// Git may drop extensions that begin with a capital; only REUC cannot be derived again.
		if name == "REUC" || name[0] < 'A' || name[0] > 'Z' {
			kept = append(kept, whole...)
		}
		at += len(whole)
	}
	sum := sha1.Sum(kept)
	return append(kept, sum[:]...)
}

// entry returns the size of the entry at the beginning of b.
func entry(b []byte, version uint32) (int, bool) {
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
