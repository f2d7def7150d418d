package odb

import (
	"hash/crc32"
	"os"
	"sync"
	"sync/atomic"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/odb/delta"
	"github.com/domarkx/domarkx/gitstore/odb/packfile"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
)

// A packWriter writes objects to one pack while they are added. It compresses groups of objects in parallel, and writes
// the groups in the order in which they were added. Trees have groups of their own, so that listing directories reads
// few places of the pack.
type packWriter struct {
	d       *Database
	pack    *atomicfile.File
	group   *group
	trees   *group
	order   chan *group // groups to write, in order
	written sync.WaitGroup
	index   []packidx.Entry
	window  delta.Window
	recent  delta.Recent

	failed atomic.Pointer[error] // the first error of write

	keep *keep            // nil until the pack is complete
	idx  *atomicfile.File // nil before that
}

// A group is a sequence of objects that are compressed and written together.
type group struct {
	raw     []byte
	objects []groupObject
	packed  []byte
	done    chan struct{} // closed when packed is complete
}

type groupObject struct {
	id   ID
	t    Type
	size int         // bytes in raw
	end  int         // end in packed
	base *delta.Base // base of the delta in raw; nil if raw has the object itself
	own  *delta.Base // the object as a base of others; nil if it is not one
}

// isDense reports whether an object is not worth the time to compress it, because it is very small or consists mostly
// of ids or of the insertions of a delta.
func (o *groupObject) isDense() bool {
	return o.size <= 128 || o.size <= 1024 && (o.base != nil || o.t == Tree)
}

const (
	groupSize    = 256 << 10 // bytes of content with which a group is full
	treesSize    = 1 << 20   // the same for trees
	groupObjects = 512
	maxGroups    = 4 // groups that wait to be compressed or written
)

// newPackWriter creates the temporary file of a pack.
func (d *Database) newPackWriter() (*packWriter, error) {
	pack, err := d.createInPack()
	if err != nil {
		return nil, err
	}
	w := &packWriter{d: d, pack: pack, order: make(chan *group, maxGroups)}
	w.window.Read = w.readBase
	w.written.Go(w.write)
	return w, nil
}

// add adds an object that the pack does not contain. It does not keep the data.
func (w *packWriter) add(o object) error {
	kind, size, most := &w.group, groupSize, groupObjects
	if o.t == Tree {
		kind, size, most = &w.trees, treesSize, treesSize
	}
	if *kind == nil {
		*kind = &group{done: make(chan struct{})}
	}
	g := *kind
	packed := groupObject{id: o.id, t: o.t}
	start := len(g.raw)
	switch {
	case o.repeats == repeated:
		g.raw, packed.base, packed.own = w.window.PutSimilar(g.raw, o.data)
	case o.repeats == repeats:
		if g.raw, packed.base = w.window.Delta(g.raw, o.data); packed.base == nil {
			g.raw, packed.base, packed.own = w.recent.Delta(g.raw, o.data)
		}
	}
	if packed.base == nil {
		g.raw = append(g.raw, o.data...)
	}
	packed.size = len(g.raw) - start
	g.objects = append(g.objects, packed)
	if len(g.raw) >= size || len(g.objects) >= most {
		w.flush(kind)
	}
	return w.error()
}

func (w *packWriter) flush(kind **group) {
	if *kind != nil {
		go (*kind).compress()
		w.order <- *kind
		*kind = nil
	}
}

func (w *packWriter) error() error {
	if err := w.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (g *group) compress() {
	raw := g.raw
	for i := range g.objects {
		o := &g.objects[i]
		if o.isDense() {
			g.packed = store(g.packed, raw[:o.size])
		} else {
			g.packed = deflate(g.packed, raw[:o.size])
		}
		raw = raw[o.size:]
		o.end = len(g.packed)
	}
	close(g.done)
}

func appendEntryHeader(b []byte, kind byte, size int) []byte {
	c := kind<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(b, c)
}

// appendOffset appends the distance from a delta back to its base.
func appendOffset(b []byte, back int64) []byte {
	var digits [10]byte
	at := len(digits) - 1
	digits[at] = byte(back & 0x7f)
	for back >>= 7; back > 0; back >>= 7 {
		back--
		at--
		digits[at] = byte(back&0x7f) | 0x80
	}
	return append(b, digits[at:]...)
}

// put writes to the pack. After an error it returns false.
func (w *packWriter) put(data []byte) bool {
	if _, err := w.pack.Write(data); err != nil {
		err = writeError("write pack", err)
		w.failed.Store(&err)
	}
	return w.error() == nil
}

// write writes groups in their order. After an error it only receives the remaining groups.
func (w *packWriter) write() {
	at := int64(packfile.HeaderSize)
	w.put(make([]byte, at)) // the number of objects is written last
	var out []byte
	for g := range w.order {
		<-g.done
		if w.error() != nil {
			continue
		}
		out = out[:0]
		start := 0
		for _, o := range g.objects {
			entry := len(out)
			here := at + int64(entry)
			if o.own != nil {
				o.own.Offset = here
			}
			if o.base == nil {
				out = appendEntryHeader(out, byte(o.t), o.size)
			} else {
				out = appendOffset(appendEntryHeader(out, packfile.OfsDelta, o.size), here-o.base.Offset)
			}
			if o.own != nil {
				o.own.Packed = [2]int64{at + int64(len(out)), at + int64(len(out)+o.end-start)}
			}
			out = append(out, g.packed[start:o.end]...)
			w.index = append(w.index, packidx.Entry{ID: o.id, CRC: crc32.ChecksumIEEE(out[entry:]), Offset: uint64(here)})
			start = o.end
		}
		at += int64(len(out))
		if w.put(out) {
			for _, o := range g.objects {
				if o.own != nil && o.base == nil {
					o.own.Written.Store(true)
				}
			}
		}
	}
}

// readBase returns the content of a base from the pack, or nil if it cannot be read.
func (w *packWriter) readBase(b *delta.Base) []byte {
	packed := make([]byte, b.Packed[1]-b.Packed[0])
	if _, err := w.pack.ReadAt(packed, b.Packed[0]); err != nil {
		return nil
	}
	content, err := decompress(packed, int64(b.Size))
	if err != nil {
		return nil
	}
	return content
}

// stop ends the goroutines, after all added objects are in the pack.
func (w *packWriter) stop() {
	if w.order != nil {
		w.flush(&w.group)
		w.flush(&w.trees)
		close(w.order)
		w.written.Wait()
		w.order = nil
	}
}

// abort removes the files of the pack.
func (w *packWriter) abort() {
	w.stop()
	_ = w.pack.Abort()
	if w.idx != nil {
		_ = w.idx.Abort()
	}
	if w.keep != nil {
		if w.keep.pack != "" {
			os.Remove(w.keep.pack + ".idx")
			os.Remove(w.keep.pack + ".pack")
		}
		_ = w.keep.release()
	}
}
