package domarkx

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
)

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

// PackedEntries is a compact list of entries: about 80 bytes for a stored entry, where an Entry
// takes 370. Sessions can have millions. The zero value is an empty list.
type PackedEntries struct {
	groups [][]byte      // full groups, of packGroup entries each
	starts []uint32      // offset of each entry in its group
	filled []byte        // the last group, which is not full yet
	last   ID            // of the last entry
	odd    map[int]Entry // entries with unstored content or unusual ids
}

// A PackedState is a [State] with packed messages.
type PackedState struct {
	Headers []HeaderEntry // as in State
	Live    PackedEntries
	Dead    []Tombstone // in order of ID
}

// packGroup is the number of entries that share an allocation.
const packGroup = 1024

// Flags in the first two bytes of a packed entry. The three bits above hold the tail.
const (
	packAssistant = 1 << iota
	packAfter     // After follows; otherwise it is the id of the entry before
	packRevised   // Rev or Past follows
	packLink
	packVerbatim
	packTight
	packFence
	packSpan
	packIncludes
	packChunks
	packOdd
	packTail // the lowest bit of the tail
)

// Len returns the number of entries.
func (p *PackedEntries) Len() int { return len(p.starts) }

// Append adds an entry.
func (p *PackedEntries) Append(e Entry) {
	p.starts = append(p.starts, uint32(len(p.filled)))
	if !isPackable(&e) {
		if p.odd == nil {
			p.odd = map[int]Entry{}
		}
		p.odd[len(p.starts)-1] = e
		p.filled = append(binary.LittleEndian.AppendUint16(p.filled, packOdd), e.ID[:]...)
	} else {
		p.filled = appendPacked(p.filled, &e, p.last)
	}
	p.last = e.ID
	if len(p.starts)%packGroup == 0 {
		p.groups = append(p.groups, append([]byte(nil), p.filled...))
		p.filled = p.filled[:0]
	}
}

// At returns entry k.
func (p *PackedEntries) At(k int) Entry {
	if e, ok := p.odd[k]; ok {
		return e
	}
	u := unpacker{p.at(k)}
	e := Entry{Role: User}
	flags := u.packed(&e)
	if flags&packAfter == 0 && k > 0 {
		e.After = ID(p.at(k - 1)[2:])
	}
	return e
}

func (p *PackedEntries) at(k int) []byte {
	group := p.filled
	if k/packGroup < len(p.groups) {
		group = p.groups[k/packGroup]
	}
	return group[p.starts[k]:]
}

// isPackable reports whether an entry can be packed without loss.
func isPackable(e *Entry) bool {
	isID := func(s string) bool { return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == "" }
	return (e.Role == User || e.Role == Assistant) && e.JSON.Data == nil && e.Source.Data == nil && isID(e.JSON.ID) &&
		e.Layout.Verbatim == (e.Source.ID != "") && (e.Source.ID == "" || isID(e.Source.ID)) && (e.Link == "" || isID(e.Link)) &&
		e.Layout.Tail < 8 && e.Layout.Size >= 0 && e.Layout.Span >= 0 && e.Layout.Within >= 0
}

// appendPacked packs an entry. before is the id of the entry that precedes it.
func appendPacked(dst []byte, e *Entry, before ID) []byte {
	flags := int(e.Layout.Tail) * packTail
	set := func(flag int, is bool) bool {
		if is {
			flags |= flag
		}
		return is
	}
	start := len(dst)
	dst = append(append(dst, 0, 0), e.ID[:]...)
	set(packAssistant, e.Role == Assistant)
	dst = append(dst, e.Layout.Digest[:]...)
	dst = binary.AppendVarint(dst, e.Date)
	dst = binary.AppendUvarint(dst, uint64(e.Layout.Size))
	dst = appendID(dst, e.JSON.ID)
	if set(packAfter, e.After != before) {
		dst = append(dst, e.After[:]...)
	}
	if set(packRevised, e.Rev != Rev{} || len(e.Past) > 0) {
		dst = append(dst, e.Rev[:]...)
		dst = binary.AppendUvarint(dst, uint64(len(e.Past)))
		for _, rev := range e.Past {
			dst = append(dst, rev[:]...)
		}
	}
	if set(packLink, e.Link != "") {
		dst = appendID(dst, e.Link)
	}
	if set(packVerbatim, e.Layout.Verbatim) {
		dst = appendID(dst, e.Source.ID)
	}
	set(packTight, e.Layout.Tight)
	if set(packFence, e.Layout.Fence != "") {
		dst = appendText(dst, e.Layout.Fence)
	}
	if set(packSpan, e.Layout.Span != 0 || e.Layout.Within != 0) {
		dst = binary.AppendUvarint(dst, uint64(e.Layout.Span))
		dst = binary.AppendUvarint(dst, uint64(e.Layout.Within))
	}
	if set(packIncludes, e.Layout.Includes != "") {
		dst = appendText(dst, e.Layout.Includes)
	}
	if set(packChunks, e.JSON.Chunks != "" || e.Source.Chunks != "") {
		dst = appendText(appendText(dst, e.JSON.Chunks), e.Source.Chunks)
	}
	binary.LittleEndian.PutUint16(dst[start:], uint16(flags))
	return dst
}

func appendID(dst []byte, id string) []byte {
	dst, _ = hex.AppendDecode(dst, []byte(id)) // isPackable has checked the digits
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// An unpacker reads packed entries.
type unpacker struct{ rest []byte }

// packed reads an entry and returns its flags. It sets e.After only if the entry stores it.
func (u *unpacker) packed(e *Entry) int {
	flags := int(binary.LittleEndian.Uint16(u.take(2)))
	if flags&packAssistant != 0 {
		e.Role = Assistant
	}
	e.ID = ID(u.take(16))
	l := &e.Layout
	l.Tail = Tail(flags / packTail)
	l.Digest = [32]byte(u.take(32))
	e.Date = u.varint()
	l.Size = int64(u.uvarint())
	e.JSON.ID = u.id()
	if flags&packAfter != 0 {
		e.After = ID(u.take(16))
	}
	if flags&packRevised != 0 {
		e.Rev = Rev(u.take(8))
		if n := u.uvarint(); n > 0 {
			e.Past = make([]Rev, n)
			for i := range e.Past {
				e.Past[i] = Rev(u.take(8))
			}
		}
	}
	if flags&packLink != 0 {
		e.Link = u.id()
	}
	if l.Verbatim = flags&packVerbatim != 0; l.Verbatim {
		e.Source.ID = u.id()
	}
	l.Tight = flags&packTight != 0
	if flags&packFence != 0 {
		l.Fence = u.text()
	}
	if flags&packSpan != 0 {
		l.Span, l.Within = int(u.uvarint()), int(u.uvarint())
	}
	if flags&packIncludes != 0 {
		l.Includes = u.text()
	}
	if flags&packChunks != 0 {
		e.JSON.Chunks, e.Source.Chunks = u.text(), u.text()
	}
	return flags
}

func (u *unpacker) take(n int) []byte {
	b := u.rest[:n]
	u.rest = u.rest[n:]
	return b
}

func (u *unpacker) varint() int64 {
	v, n := binary.Varint(u.rest)
	u.rest = u.rest[n:]
	return v
}

func (u *unpacker) uvarint() uint64 {
	v, n := binary.Uvarint(u.rest)
	u.rest = u.rest[n:]
	return v
}

func (u *unpacker) id() string   { return hex.EncodeToString(u.take(20)) }
func (u *unpacker) text() string { return string(u.take(int(u.uvarint()))) }
