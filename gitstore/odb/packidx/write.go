package packidx

import (
	"bufio"
	"encoding/binary"
	"io"
	"slices"

	"github.com/domarkx/domarkx/gitstore/oid"
)

// An Entry is the position of an object in a pack.
type Entry struct {
	ID     oid.ID
	CRC    uint32 // CRC-32 of its packed bytes, including the header
	Offset uint64
}

// Write writes the index, of version 2, of a pack with ids of a hash function and with that checksum. It sorts entries.
func Write(dst io.Writer, by oid.Hash, entries []Entry, pack []byte) error {
	slices.SortFunc(entries, func(a, b Entry) int { return a.ID.Compare(b.ID) })
	sum := by.New()
	out := bufio.NewWriterSize(io.MultiWriter(dst, sum), 64<<10)
	put := func(n uint32) { out.Write(binary.BigEndian.AppendUint32(out.AvailableBuffer(), n)) } // Flush returns the errors
	out.WriteString("\xfftOc\x00\x00\x00\x02")
	n := 0
	for first := range 256 {
		for n < len(entries) && int(entries[n].ID.First()) == first {
			n++
		}
		put(uint32(n))
	}
	for i := range entries {
		out.Write(entries[i].ID.Bytes())
	}
	for i := range entries {
		put(entries[i].CRC)
	}
	const isFar = 1 << 31 // the highest bit marks an index into the table of 8-byte offsets
	var far []uint64
	for i := range entries {
		if at := entries[i].Offset; at < isFar {
			put(uint32(at))
		} else {
			put(isFar | uint32(len(far)))
			far = append(far, at)
		}
	}
	for _, at := range far {
		out.Write(binary.BigEndian.AppendUint64(out.AvailableBuffer(), at))
	}
	out.Write(pack)
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := dst.Write(sum.Sum(nil))
	return err
}
