package odb

import (
	"fmt"
	"hash/crc32"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb/inflate"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
)

// BlobInto reads a blob into dst, which has the blob's size. It returns [domarkx.ErrCorrupt] for a blob of another size, and
// the errors of [Database.Read].
//
// A packed blob that is not a delta is verified with the CRC-32 of its packed bytes, which is in the pack index. This
// detects damage on the disk and wrong offsets in the index, and takes much less time than hashing the content. Whoever
// created the index has verified the id. All other blobs are verified with their ids.
func (d *Database) BlobInto(id ID, dst []byte) error {
	fill := func(t Type, data []byte, err error) error {
		if err = verified(d.hash, err, id, t, data); err != nil {
			return err
		}
		if t != Blob || len(data) != len(dst) {
			return fmt.Errorf("%w: it is a %s of %d bytes, expected a blob of %d", domarkx.ErrCorrupt, t, len(data), len(dst))
		}
		copy(dst, data)
		return nil
	}
	err := d.lookupOrFetch(id, func(p *pack, x *packidx.Index, i int) error {
		e, err := p.entry(x.Offset(i))
		if err == nil && e.kind == byte(Blob) && e.size == int64(len(dst)) {
			d.touch(e.size)
			return p.unpackVerified(x, i, e, id, dst)
		}
		t, data, err := d.unpack(p, x.Offset(i))
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

// unpackVerified decompresses a blob that is not a delta into dst, which has its size, and verifies it. The blob is the
// i-th object of the index.
func (p *pack) unpackVerified(x *packidx.Index, i int, e entry, id ID, dst []byte) error {
	taken, err := inflate.Decode(dst, e.packed)
	if err != nil {
		return fmt.Errorf("%q at %d: %w", p.path, e.at, errInflate(err))
	}
	sum, ok := x.CRC(i)
	if !ok {
		return verified(p.hash, nil, id, Blob, dst)
	}
	if header := len(e.raw) - len(e.packed); crc32.ChecksumIEEE(e.raw[:header+taken]) != sum {
		return p.errEntry(e.at, "its checksum differs from the one in the index")
	}
	return nil
}
