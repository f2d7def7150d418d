package gitobjects

import (
	"bytes" //nolint:gosec // ids of Git objects
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/delta"
	"github.com/domarkx/domarkx/gitstore/odb/inflate"
	"github.com/domarkx/domarkx/gitstore/odb/packfile"
	"github.com/domarkx/domarkx/gitstore/oid"

	"github.com/klauspost/compress/zlib"
)

// A pack is a pack that is being read. It is read twice: first to find where entries begin, because only that of the
// compressed data before says it, then from each whole object to the deltas against it, so that each object is built
// once.
type pack struct {
	content []byte
	hash    oid.Hash
	entries []entry            // in the order of their offsets
	byID    map[string][]int32 // deltas by the ids of their bases
	left    *int64
	found   func(Object)
	err     error // the first reason why something was not read

	path   []step // from a whole object to the one that is being read, each the base of the next
	held   int    // bytes of the contents in path
	packed []byte // a delta, reused
}

// An entry is an object in a pack. Children are the deltas against it, by their offsets.
type entry struct {
	at          int
	size        int64
	data        int32 // length of the header
	child, next int32 // index of the first child, and of the next one with the same base; 0 for none
	kind        byte
	read        bool
}

// A step is an object on the path. Its content is nil if it was given up to save memory.
type step struct {
	entry   int32
	content []byte
	child   int32   // the next child to read; 0 for none
	byID    []int32 // the children that name it by its id
}

func readPack(content []byte, left *int64, found func(Object)) error {
	count, err := packfile.Header(content)
	if err != nil {
		return err
	}
	p := &pack{content: content, hash: hashOf(content), byID: map[string][]int32{}, left: left, found: found}
	at := p.index(count)
	for i := range p.entries {
		if e := p.entries[i]; e.kind <= packfile.Tag && !e.read && *left > 0 {
			p.tree(int32(i))
		}
	}
	for i := range p.entries {
		if !p.entries[i].read && *left > 0 {
			p.insertions(int32(i))
		}
	}
	if *left <= 0 {
		p.fail(at, errTotal)
	}
	if at != len(content)-p.hash.Size() {
		p.fail(at, fmt.Errorf("%w: its end is not where the number of its objects says", domarkx.ErrCorrupt))
		readRest(content[at:], found)
	}
	return p.err
}

func (p *pack) fail(at int, err error) {
	if p.err == nil {
		p.err = fmt.Errorf("pack at %d: %w", at, err)
	}
}

// hashOf returns the hash function of the ids in a pack, for which only its checksum has the answer.
func hashOf(content []byte) oid.Hash {
	if n := len(content) - oid.SHA256.Size(); n > 0 {
		if sum := sha256.Sum256(content[:n]); bytes.Equal(sum[:], content[n:]) {
			return oid.SHA256
		}
	}
	return oid.SHA1
}

// index finds the entries, and returns where they end.
func (p *pack) index(count uint32) (end int) {
	at := packfile.HeaderSize
	for range count {
		if len(p.entries) == maxEntries || *p.left <= 0 {
			p.fail(at, fmt.Errorf("%w: it has too many objects", domarkx.ErrUnsupported))
			return at
		}
		h, err := packfile.ReadEntry(p.content[min(at, len(p.content)):], int64(at), p.hash.Size())
		if err != nil {
			p.fail(at, err)
			return at
		}
		e := entry{at: at, size: h.Size, kind: h.Kind}
		e.data = int32(len(p.content) - at - len(h.Packed))
		n, err := p.skip(&e, h.Packed)
		if err != nil {
			p.fail(at, err)
			return at
		}
		i := int32(len(p.entries))
		switch h.Kind {
		case packfile.OfsDelta:
			b, ok := slices.BinarySearchFunc(p.entries, h.Base, func(e entry, at int64) int { return e.at - int(at) })
			if !ok {
				p.fail(at, fmt.Errorf("%w: no object starts where its base should", domarkx.ErrCorrupt))
				break
			}
			e.next, p.entries[b].child = p.entries[b].child, i
		case packfile.RefDelta:
			p.byID[string(h.BaseID)] = append(p.byID[string(h.BaseID)], i)
		}
		p.entries = append(p.entries, e)
		at += int(e.data) + n
	}
	return at
}

// skip returns the length of an entry's compressed data. It already reports an object that is too large for memory.
func (p *pack) skip(e *entry, packed []byte) (n int, err error) {
	if e.kind > packfile.Tag || e.size <= maxObject {
		data, n, err := p.inflate(packed, e.size, p.packed)
		if err == nil {
			p.packed = data[:0]
		}
		return n, err
	}
	src := bytes.NewReader(packed)
	r, err := zlib.NewReader(src)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
	}
	defer r.Close()
	size, err := readParts(r, odb.Type(e.kind).String(), p.left, p.found)
	if err == nil && size != e.size {
		err = fmt.Errorf("%w: its size is not the declared one", domarkx.ErrCorrupt)
	}
	e.read = true
	return len(packed) - src.Len(), err
}

// maxRatio is more than what deflate can make of a byte.
const maxRatio = 1040

// perObject is what an object costs beside its content, in bytes that are decompressed in the same time.
const perObject = 64

// inflate decompresses size bytes at the beginning of packed into memory, which it reuses if that is large enough. n is
// the length of the compressed data.
func (p *pack) inflate(packed []byte, size int64, memory []byte) (data []byte, n int, err error) {
	switch {
	case size > maxObject:
		return nil, 0, fmt.Errorf("%w: an object of %d bytes", domarkx.ErrUnsupported, size)
	case size > int64(len(packed))*maxRatio:
		return nil, 0, fmt.Errorf("%w: it is too short for its declared size", domarkx.ErrCorrupt)
	case size > *p.left:
		*p.left = 0
		return nil, 0, errTotal
	}
	*p.left -= size + perObject
	data = slices.Grow(memory[:0], int(size))[:size]
	n, err = inflate.Decode(data, packed)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
	}
	return data, n, nil
}

// open decompresses an entry: the content of an object or a delta.
func (p *pack) open(i int32, memory []byte) ([]byte, error) {
	e := p.entries[i]
	data, _, err := p.inflate(p.content[e.at+int(e.data):], e.size, memory)
	return data, err
}

// tree reads an object that is not a delta, and all deltas against it, directly or not.
func (p *pack) tree(root int32) {
	content, err := p.open(root, nil)
	if err != nil {
		p.fail(p.entries[root].at, err)
		return
	}
	kind := odb.Type(p.entries[root].kind)
	p.push(root, kind, content)
	for len(p.path) > 0 && *p.left > 0 {
		top := &p.path[len(p.path)-1]
		next := top.child
		switch {
		case next > 0:
			top.child = p.entries[next].next
		case len(top.byID) > 0:
			next, top.byID = top.byID[0], top.byID[1:]
		default:
			p.held -= len(top.content)
			p.path = p.path[:len(p.path)-1]
			continue
		}
		base, err := p.base()
		if err == nil && len(p.path) > maxChain {
			err = fmt.Errorf("%w: its chain of deltas is too long", domarkx.ErrUnsupported)
		}
		if err == nil {
			content, err = p.apply(base, next)
		}
		if err != nil {
			p.fail(p.entries[next].at, err)
			continue
		}
		p.push(next, kind, content)
	}
	p.path, p.held = p.path[:0], 0
}

// push reports an object, and makes it the end of the path if there are deltas against it.
func (p *pack) push(i int32, kind odb.Type, content []byte) {
	e := &p.entries[i]
	e.read = true
	s := step{entry: i, content: content, child: e.child}
	id := odb.Sum(p.hash, kind, content)
	s.byID = p.byID[string(id.Bytes())]
	delete(p.byID, string(id.Bytes()))
	p.found(Object{Kind: kind.String(), ID: id.String(), Content: searchable(kind.String(), content)})
	if s.child == 0 && len(s.byID) == 0 {
		return
	}
	p.path = append(p.path, s)
	p.held += len(content)
	for j := 0; p.held > maxHeld && j < len(p.path)-1; j++ {
		p.held -= len(p.path[j].content)
		p.path[j].content = nil
	}
}

// base returns the content at the end of the path, which is built again if it was given up.
func (p *pack) base() ([]byte, error) {
	last := len(p.path) - 1
	if p.path[last].content != nil {
		return p.path[last].content, nil
	}
	content, err := p.open(p.path[0].entry, nil)
	for _, s := range p.path[1:] {
		if err != nil {
			return nil, err
		}
		content, err = p.apply(content, s.entry)
	}
	if err == nil {
		p.path[last].content = content
		p.held += len(content)
	}
	return content, err
}

// apply returns the object that an entry makes of its base.
func (p *pack) apply(base []byte, i int32) ([]byte, error) {
	instructions, err := p.open(i, p.packed)
	if err != nil {
		return nil, err
	}
	p.packed = instructions[:0]
	content, err := delta.Apply(base, instructions, min(maxObject, *p.left))
	*p.left -= int64(len(content))
	return content, err
}

// insertions reports the inserted bytes of a delta whose base is not in the pack, such as in a bundle of new commits, or could
// not be read.
func (p *pack) insertions(i int32) {
	e := &p.entries[i]
	instructions, err := p.open(i, p.packed)
	if err == nil && e.kind > packfile.Tag {
		p.packed = instructions[:0]
		var inserted []byte
		inserted, err = delta.Insertions(instructions)
		p.found(Object{Kind: "delta", Content: inserted})
	}
	if err == nil && e.kind != packfile.RefDelta {
		err = fmt.Errorf("%w: its base could not be read", domarkx.ErrCorrupt)
	}
	if err != nil {
		p.fail(e.at, err)
	}
}
