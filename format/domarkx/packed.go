package domarkx

import "encoding/hex"

// Entries is a list of the messages of a thread. At may create the entry anew on each call.
type Entries interface {
	Len() int
	At(k int) Entry
}

// EntryList is a list of entries in memory.
type EntryList []Entry

// Len returns the number of entries.
func (l EntryList) Len() int { return len(l) }

// At returns entry k.
func (l EntryList) At(k int) Entry { return l[k] }

// InConflict reports whether entry k is one of several texts of one message.
func InConflict(entries Entries, k int) bool {
	id := entries.At(k).ID
	return k > 0 && entries.At(k-1).ID == id || k+1 < entries.Len() && entries.At(k+1).ID == id
}

// PackedEntries is a compact list of entries: about 100 bytes for a usual entry, where an Entry
// takes 370. Sessions can have millions. The zero value is an empty list.
type PackedEntries struct {
	groups [][]packedEntry // of packGroup entries each; the last one may have less
	last   ID              // of the last entry
}

// A PackedState is a [State] with packed messages.
type PackedState struct {
	Headers []HeaderEntry // as in State
	Live    PackedEntries
	Dead    []Tombstone // in order of ID
}

// packGroup is the number of entries that share an allocation.
const packGroup = 1024

// A packedEntry holds what most entries have.
type packedEntry struct {
	id         ID
	digest     [32]byte
	json       [20]byte
	assistant  bool
	tight      bool
	tail       Tail
	date, size int64
	whole      *Entry // if the entry has anything else
}

// Len returns the number of entries.
func (p *PackedEntries) Len() int {
	if len(p.groups) == 0 {
		return 0
	}
	return (len(p.groups)-1)*packGroup + len(p.groups[len(p.groups)-1])
}

// Append adds an entry.
func (p *PackedEntries) Append(e Entry) {
	if n := len(p.groups); n == 0 {
		p.groups = [][]packedEntry{nil}
	} else if len(p.groups[n-1]) == packGroup {
		p.groups = append(p.groups, make([]packedEntry, 0, packGroup))
	}
	packed := packedEntry{id: e.ID, digest: e.Layout.Digest, assistant: e.Role == Assistant, tight: e.Layout.Tight, tail: e.Layout.Tail, date: e.Date, size: e.Layout.Size}
	_, err := hex.Decode(packed.json[:], []byte(e.JSON.ID[:min(len(e.JSON.ID), 40)]))
	if err != nil || e.After != p.last || !packed.isAllOf(&e) {
		whole := e
		packed.whole = &whole
	}
	last := &p.groups[len(p.groups)-1]
	*last = append(*last, packed)
	p.last = e.ID
}

// At returns entry k.
func (p *PackedEntries) At(k int) Entry {
	packed := &p.groups[k/packGroup][k%packGroup]
	if packed.whole != nil {
		return *packed.whole
	}
	e := packed.entry()
	if k > 0 {
		e.After = p.groups[(k-1)/packGroup][(k-1)%packGroup].id
	}
	return e
}

// isAllOf reports whether an entry has nothing else, except for After.
func (p *packedEntry) isAllOf(e *Entry) bool {
	own := p.entry()
	return e.Rev == own.Rev && len(e.Past) == 0 && e.Role == own.Role && e.Link == "" && e.Layout == own.Layout &&
		e.JSON.ID == own.JSON.ID && e.JSON.Chunks == "" && e.JSON.Data == nil && e.Source.IsZero() && e.Source.Chunks == ""
}

// entry returns the entry, except for After.
func (p *packedEntry) entry() Entry {
	e := Entry{ID: p.id, Role: User, Date: p.date, JSON: Blob{ID: hex.EncodeToString(p.json[:])},
		Layout: Layout{Digest: p.digest, Size: p.size, Tail: p.tail, Tight: p.tight}}
	if p.assistant {
		e.Role = Assistant
	}
	return e
}
