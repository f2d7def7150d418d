package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb/delta"
	"github.com/domarkx/domarkx/gitstore/odb/packfile"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A pack is a .pack file with its .idx file. Each of the two is mapped when it is first needed.
type pack struct {
	path string // path without the extension
	hash oid.Hash
	gone atomic.Bool

	open  sync.Mutex // locked while a file is being mapped
	idx   atomic.Pointer[packidx.Index]
	data  atomic.Pointer[mapping]
	maps  []*mapping // mappings to remove when the pack is closed
	fault error      // why the files cannot be used
}

// maxChain is the length of the longest chain of deltas that Git writes.
const maxChain = 4095

// close unmaps the files of the pack. No other goroutine may use the pack.
func (p *pack) close() error {
	var errs []error
	for _, m := range p.maps {
		errs = append(errs, m.close())
	}
	p.maps = nil
	p.idx.Store(nil)
	p.data.Store(nil)
	return errors.Join(errs...)
}

// lookup calls a function with the position of an id in the index, if the pack contains the object.
func (p *pack) lookup(id ID, packed func(*pack, int) error) (found bool, err error) {
	x, err := p.index()
	if err != nil {
		return false, err
	}
	i, ok := x.Find(id)
	if !ok {
		return false, nil
	}
	return true, packed(p, i)
}

// offset returns the offset of the object with the i-th id. The index must be loaded.
func (p *pack) offset(i int) int64 { return p.idx.Load().Offset(i) }

// mapFile maps one of the pack's files. p.open must be locked.
func (p *pack) mapFile(extension string) (*mapping, error) {
	if p.fault != nil {
		return nil, p.fault
	}
	m, err := mapFile(p.path + extension)
	if errors.Is(err, fs.ErrNotExist) {
		p.gone.Store(true)
		return nil, errGone
	} else if err != nil {
		return nil, fmt.Errorf("map pack: %w", err)
	}
	p.maps = append(p.maps, m)
	return m, nil
}

func (p *pack) broken(err error) error {
	p.fault = fmt.Errorf("%q: %w", p.path, err)
	return p.fault
}

func (p *pack) index() (*packidx.Index, error) {
	if x := p.idx.Load(); x != nil {
		return x, nil
	}
	p.open.Lock()
	defer p.open.Unlock()
	if x := p.idx.Load(); x != nil {
		return x, nil
	}
	m, err := p.mapFile(".idx")
	if err != nil {
		return nil, err
	}
	x, err := packidx.Parse(p.hash, m.bytes)
	if err != nil {
		return nil, p.broken(err)
	}
	p.idx.Store(x)
	return x, nil
}

// content returns the .pack file, after it has compared the checksum at its end with the one in the index.
func (p *pack) content() ([]byte, error) {
	if m := p.data.Load(); m != nil {
		return m.bytes, nil
	}
	x, err := p.index()
	if err != nil {
		return nil, err
	}
	p.open.Lock()
	defer p.open.Unlock()
	if m := p.data.Load(); m != nil {
		return m.bytes, nil
	}
	m, err := p.mapFile(".pack")
	if err != nil {
		return nil, err
	}
	b := m.bytes
	if _, err := packfile.Header(b); err != nil {
		return nil, p.broken(err)
	}
	if len(b) < packfile.HeaderSize+p.hash.Size() {
		return nil, p.broken(fmt.Errorf("%w: it is truncated", domarkx.ErrCorrupt))
	}
	if !bytes.Equal(b[len(b)-p.hash.Size():], x.PackChecksum()) {
		return nil, p.broken(fmt.Errorf("%w: pack and index do not belong together", domarkx.ErrCorrupt))
	}
	p.data.Store(m)
	return b, nil
}

// An entry is a packed object.
type entry struct {
	at     int64  // offset of the entry
	kind   byte   // a Type, or that of a delta
	size   int64  // uncompressed size of the content, or of the delta
	base   int64  // offset of a delta's base
	raw    []byte // the bytes of the pack from the entry to the end
	packed []byte // the bytes of the pack from the compressed data to the end
}

func (p *pack) errEntry(at int64, what string) error {
	return fmt.Errorf("%q at %d: %w: %s", p.path, at, domarkx.ErrCorrupt, what)
}

// entry reads the header of the entry at an offset.
func (p *pack) entry(at int64) (entry, error) {
	b, err := p.content()
	if err != nil {
		return entry{}, err
	}
	end := int64(len(b) - p.hash.Size())
	if at < packfile.HeaderSize || at >= end {
		return entry{}, p.errEntry(at, "no object starts there")
	}
	h, err := packfile.ReadEntry(b[at:end], at, p.hash.Size())
	if err != nil {
		return entry{}, fmt.Errorf("%q at %d: %w", p.path, at, err)
	}
	e := entry{at: at, kind: h.Kind, size: h.Size, base: h.Base, raw: b[at:end], packed: h.Packed}
	if h.Kind == packfile.RefDelta {
		x, err := p.index()
		if err != nil {
			return entry{}, err
		}
		base, ok := x.FindOffset(oid.FromBytes(h.BaseID))
		if !ok {
			return entry{}, p.errEntry(at, "its base is not in the pack")
		}
		e.base = base
	}
	return e, nil
}

// unpack returns the type and content of the object at an offset.
func (d *Database) unpack(p *pack, at int64) (Type, []byte, error) {
	var deltas []entry
	var t Type
	var data []byte
	for {
		var cached bool
		if t, data, cached = d.bases.get(p, at); cached {
			if len(deltas) == 0 {
				data = bytes.Clone(data)
			}
			break
		}
		e, err := p.entry(at)
		if err != nil {
			return 0, nil, err
		}
		d.touch(p, at, e.size)
		if e.kind <= byte(Tag) {
			if data, err = decompress(e.packed, e.size); err != nil {
				return 0, nil, fmt.Errorf("%q at %d: %w", p.path, at, err)
			}
			t = Type(e.kind)
			if len(deltas) > 0 {
				d.bases.put(p, at, t, data)
			}
			break
		}
		if len(deltas) == maxChain {
			return 0, nil, p.errEntry(at, "its chain of deltas is too long")
		}
		deltas = append(deltas, e)
		at = e.base
	}
	for i := len(deltas) - 1; i >= 0; i-- {
		e := deltas[i]
		instructions, err := decompress(e.packed, e.size)
		if err == nil {
			data, err = delta.Apply(data, instructions, maxObject)
		}
		if err != nil {
			return 0, nil, fmt.Errorf("%q at %d: %w", p.path, e.at, err)
		}
		if i > 0 {
			d.bases.put(p, e.at, t, data)
		}
	}
	return t, data, nil
}

// stat returns the type and size of the object at an offset. Of a delta it decompresses only the beginning.
func (p *pack) stat(at int64) (t Type, size int64, err error) {
	size = -1
	for range maxChain + 1 {
		e, err := p.entry(at)
		if err != nil {
			return 0, 0, err
		}
		if e.kind <= byte(Tag) {
			if size < 0 {
				size = e.size
			}
			return Type(e.kind), size, nil
		}
		if size < 0 {
			head, err := decompressHead(e.packed, min(e.size, 20))
			if err != nil {
				return 0, 0, fmt.Errorf("%q at %d: %w", p.path, at, err)
			}
			_, size, _, err = delta.Sizes(head)
			if err != nil {
				return 0, 0, fmt.Errorf("%q at %d: %w", p.path, at, err)
			}
		}
		at = e.base
	}
	return 0, 0, p.errEntry(at, "its chain of deltas is too long")
}
