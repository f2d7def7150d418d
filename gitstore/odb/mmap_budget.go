package odb

import "sync/atomic"

// BoundMemory limits the memory of mapped packs to about n bytes, where the system supports that. It is for processes
// that read much of a large pack once, since pages of a mapping that were read count as memory of the process. No other
// method may run at the same time.
func (d *Database) BoundMemory(n int64) { d.mmapBudget.most = n }

// An mmapBudget counts how many bytes of mapped packs were read, in units of 64 KiB, in which Linux maps them.
type mmapBudget struct {
	most int64 // limit in bytes, 0 for no limit
	now  atomic.Int64
}

const pieceBits = 16

// pieces is the set of 64 KiB pieces of a mapping that were read.
type pieces []atomic.Uint64

func newPieces(size int) pieces { return make(pieces, size>>(pieceBits+6)+1) }

// add adds the pieces of a range that is read, and returns the number of bytes in pieces that are new.
func (p pieces) add(from, to int64) int64 {
	n := int64(0)
	for k := from >> pieceBits; k <= (to-1)>>pieceBits; k++ {
		if bit := uint64(1) << (k & 63); p[k>>6].Or(bit)&bit == 0 {
			n += 1 << pieceBits
		}
	}
	return n
}

// touch records that a range of a mapped pack is about to be read. If that exceeds the limit, it releases the memory of
// the mappings. d.mu must be locked, at least for reading.
func (d *Database) touch(p *pack, from, size int64) {
	m := p.data.Load()
	if d.mmapBudget.most == 0 || m == nil {
		return
	}
	to := min(from+max(size, 1), int64(len(m.bytes)))
	if d.mmapBudget.now.Add(m.read.add(from, to)) <= d.mmapBudget.most {
		return
	}
	d.mmapBudget.now.Store(0)
	for _, p := range d.packs {
		if m := p.data.Load(); m != nil {
			m.release()
			for i := range m.read {
				m.read[i].Store(0)
			}
		}
	}
}
