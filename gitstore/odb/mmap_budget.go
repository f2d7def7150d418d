package odb

import "sync/atomic"

// BoundMemory limits the memory of mapped packs to about n bytes, where the system supports that. It is for processes
// that read much of a large pack once, since pages of a mapping that were read count as memory of the process. No other
// method may run at the same time.
func (d *Database) BoundMemory(n int64) { d.mmapBudget.most = n }

// mapPiece is the number of bytes that Linux maps at the least when one of them is read.
const mapPiece = 64 << 10

// An mmapBudget counts the bytes that were mapped for objects of packs since the memory of all was released last. Objects in one
// piece count as if each had its own: to release the memory too early costs little.
type mmapBudget struct {
	most int64 // limit in bytes, 0 for no limit
	now  atomic.Int64
}

// touch records that an object of that size is about to be read from a mapped pack. If that exceeds the limit, it releases the
// memory of the mappings. d.mu must be locked, at least for reading.
func (d *Database) touch(size int64) {
	if d.mmapBudget.most == 0 || d.mmapBudget.now.Add(max(size, mapPiece)) <= d.mmapBudget.most {
		return
	}
	d.mmapBudget.now.Store(0)
	for _, p := range d.packs {
		if m := p.data.Load(); m != nil {
			m.release()
		}
	}
}
