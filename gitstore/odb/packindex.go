package odb

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"io"
	"slices"
)

// An indexEntry is where an object is in a pack.
type indexEntry struct {
	id     ID
	crc    uint32 // of its packed bytes
	offset uint64
}

// writePackIndex writes the index of a pack with that checksum: version 2 of
// gitformat-pack(5). It sorts the entries.
func writePackIndex(dst io.Writer, entries []indexEntry, pack [20]byte) error {
	slices.SortFunc(entries, func(a, b indexEntry) int { return bytes.Compare(a.id[:], b.id[:]) })
	sum := sha1.New()
	out := bufio.NewWriterSize(io.MultiWriter(dst, sum), 64<<10)
	put := func(n uint32) { out.Write(binary.BigEndian.AppendUint32(out.AvailableBuffer(), n)) } // Flush tells of errors
	out.WriteString("\xfftOc\x00\x00\x00\x02")
	n := 0
	for first := range 256 {
		for n < len(entries) && int(entries[n].id[0]) == first {
			n++
		}
		put(uint32(n))
	}
	for i := range entries {
		out.Write(entries[i].id[:])
	}
	for i := range entries {
		put(entries[i].crc)
	}
	const isFar = 1 << 31 // the offset is in the table of those that need eight bytes
	var far []uint64
	for i := range entries {
		if at := entries[i].offset; at < isFar {
			put(uint32(at))
		} else {
			put(isFar | uint32(len(far)))
			far = append(far, at)
		}
	}
	for _, at := range far {
		out.Write(binary.BigEndian.AppendUint64(out.AvailableBuffer(), at))
	}
	out.Write(pack[:])
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := dst.Write(sum.Sum(nil))
	return err
}
