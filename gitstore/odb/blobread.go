package odb

import (
	"fmt"
	"hash/crc32"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb/inflate"
)

// BlobInto reads a blob of the size of dst, content of a file or a chunk of it. Behind
// dst, up to its capacity, it writes whatever it likes, and is fastest with 300 bytes
// there. A blob of another size is [domarkx.ErrCorrupt]; else errors are those of
// [Database.Read].
//
// A blob that is packed whole is checked against the CRC-32 that the pack's index has of
// its packed bytes, and not against its id: who made the index compared the ids, what
// decays on the disk since then changes the CRC, and so does an index that names the wrong
// place. Hashing would take as long as all else that is done with content that did not
// compress. Others, and blobs where there is no CRC, are checked against their ids.
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
	err := d.lookupOrBring(id, func(p *pack, i int) error {
		e, err := p.entry(p.offset(i))
		if err == nil && e.kind == byte(Blob) && e.size == int64(len(dst)) {
			d.touch(p, e.at, e.size)
			if readOnTouch && e.size >= aheadObject {
				p.ahead.note(p.path+".pack", e.at, e.size)
			}
			return p.unpackSound(i, e, id, dst)
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

// unpackSound fills dst with a blob, the i-th object of the index, which is no delta and
// has that size.
func (p *pack) unpackSound(i int, e entry, id ID, dst []byte) error {
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
