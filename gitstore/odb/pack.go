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
	"github.com/domarkx/domarkx/gitstore/odb/inflate"
	"github.com/domarkx/domarkx/gitstore/odb/packfile"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A pack is a .pack file with its .idx file. Each of the two is mapped when it is first needed.
type pack struct {
	path string // path without the extension
	hash oid.Hash
	gone atomic.Bool // whether a file could not be mapped; the next scan makes another pack of the files that are there then

	index   func() (*packidx.Index, error)
	content func() ([]byte, error) // of the .pack file, after its checksum was compared with the one in the index
	idx     *mapping
	data    atomic.Pointer[mapping]
}

func newPack(path string, by oid.Hash) *pack {
	p := &pack{path: path, hash: by}
	p.index, p.content = sync.OnceValues(p.openIndex), sync.OnceValues(p.openContent)
	return p
}

// maxChain is the length of the longest chain of deltas that Git writes.
const maxChain = 4095

// close unmaps the files of the pack. No other goroutine may use the pack.
func (p *pack) close() error {
	var errs []error
	for _, m := range []*mapping{p.idx, p.data.Load()} {
		if m != nil {
			errs = append(errs, m.close())
		}
	}
	return errors.Join(errs...)
}

// lookup calls a function with the position of an id in the index, if the pack contains the object.
func (p *pack) lookup(id ID, packed packedFunc) (found bool, err error) {
	x, err := p.index()
	if err != nil {
		return false, err
	}
	i, ok := x.Find(id)
	if !ok {
		return false, nil
	}
	return true, packed(p, x, i)
}

// mapFile maps one of the pack's files.
func (p *pack) mapFile(extension string) (*mapping, error) {
	m, err := mapFile(p.path + extension)
	p.gone.Store(p.gone.Load() || err != nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errGone
	} else if err != nil {
		return nil, fmt.Errorf("map pack: %w", err)
	}
	return m, nil
}

func (p *pack) openIndex() (_ *packidx.Index, err error) {
	if p.idx, err = p.mapFile(".idx"); err != nil {
		return nil, err
	}
	x, err := packidx.Parse(p.hash, p.idx.bytes)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", p.path, err)
	}
	return x, nil
}

func (p *pack) openContent() ([]byte, error) {
	x, err := p.index()
	if err != nil {
		return nil, err
	}
	m, err := p.mapFile(".pack")
	if err != nil {
		return nil, err
	}
	p.data.Store(m)
	b := m.bytes
	if _, err := packfile.Header(b); err != nil {
		return nil, fmt.Errorf("%q: %w", p.path, err)
	}
	if len(b) < packfile.HeaderSize+p.hash.Size() {
		return nil, fmt.Errorf("%q: %w: it is truncated", p.path, domarkx.ErrCorrupt)
	}
	if !bytes.Equal(b[len(b)-p.hash.Size():], x.PackChecksum()) {
		return nil, fmt.Errorf("%q: %w: pack and index do not belong together", p.path, domarkx.ErrCorrupt)
	}
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
		d.touch(e.size)
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
			head := make([]byte, min(e.size, 20))
			if _, err := inflate.Head(head, e.packed); err != nil {
				return 0, 0, fmt.Errorf("%q at %d: %w", p.path, at, errInflate(err))
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
