package odb

import (
	"fmt"
	"hash/crc32"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb/inflate"
)

// BlobInto reads a blob of the size of dst into dst. It may overwrite the memory of dst between its
// length and capacity, and is fastest if [inflate.Slack] bytes are available there. A blob of another
// size is [domarkx.ErrCorrupt]; other errors are those of [Database.Read].
//
// A packed blob that is not a delta is verified with the CRC-32 of its packed bytes in the pack
// index. That detects damage on the disk and an index with wrong offsets, and takes much less time
// than hashing; the creator of the index has verified the id. All other blobs are verified with
// their ids.
func (d *Database) BlobInto(id ID, dst []byte) error {
	fill := func(t Type, data []byte, err error) error {
		if err = verified(err, id, t, data); err != nil {
			return err
		}
		if t != Blob || len(data) != len(dst) {
			return fmt.Errorf("%w: it is a %s of %d bytes, expected a blob of %d", domarkx.ErrCorrupt, t, len(data), len(dst))
		}
		copy(dst, data)
		return nil
	}
	err := d.lookupOrFetch(id, func(p *pack, i int) error {
		e, err := p.entry(p.offset(i))
		if err == nil && e.kind == byte(Blob) && e.size == int64(len(dst)) {
			d.touch(p, e.at, e.size)
			if readOnTouch && e.size >= aheadObject {
				p.ahead.note(p.path+".pack", e.at, e.size)
			}
			return p.unpackVerified(i, e, id, dst)
		}
		t, data, err := d.unpack(p, p.offset(i))
		return fill(t, data, err)
	}, func(path string) error {
		t, data, err := readLoose(path)
		return fill(t, data, err)
	})
	if err != nil {
		return fmt.Errorf("read object %s: %w", id, err)
	}
	return nil
}

// unpackVerified fills dst with a blob of that size that is not a delta: the i-th object of the
// index.
func (p *pack) unpackVerified(i int, e entry, id ID, dst []byte) error {
	taken, err := inflate.Decode(dst, e.packed)
	if err != nil {
		return fmt.Errorf("%q at %d: %w", p.path, e.at, errInflate(err))
	}
	sum, ok := p.idx.Load().CRC(i)
	if !ok {
		return verified(nil, id, Blob, dst)
	}
	if header := len(e.raw) - len(e.packed); crc32.ChecksumIEEE(e.raw[:header+taken]) != sum {
		return p.errEntry(e.at, "its checksum differs from the one in the index")
	}
	return nil
}
