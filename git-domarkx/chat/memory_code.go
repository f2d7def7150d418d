package chat

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"unsafe"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A file contains blockHead, the key of the memory, the CRC-32C (big-endian) of the rest, and for
// each cached leaf its slot, its id and its messages. Numbers are varints. Strings are preceded by
// their length in bytes.
const (
	blockHead     = "domarkx-known 1\n"
	blockHeadSize = len(blockHead) + 32 + 4
)

var errBlock = errors.New("not a block")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The flags of a message.
const (
	isAssistant = 1 << iota
	isSystem
	hasUsage
	hasRaw
	hasCalls // k.raw.Calls is set
	isSendable
)

// The encodings of parts.
const (
	textPart = iota
	thoughtPart
	callPart
	resultPartOK
	resultPartFailed
)

// encode returns the content of the file for a block.
func (b *block) encode(key [32]byte) []byte {
	var e encoder
	for slot, leaf := range b.leaves {
		if leaf.id == "" {
			continue
		}
		e.number(slot)
		e.string(leaf.id)
		e.number(len(leaf.messages))
		for i := range leaf.messages {
			e.message(&leaf.messages[i])
		}
	}
	return sealBlock(key, e.data)
}

// sealBlock prepends the header to a body.
func sealBlock(key [32]byte, body []byte) []byte {
	data := append(make([]byte, 0, blockHeadSize+len(body)), blockHead...)
	data = append(data, key[:]...)
	data = binary.BigEndian.AppendUint32(data, crc32.Checksum(body, castagnoli))
	return append(data, body...)
}

// decode decodes the content of a file. The decoded messages share the memory of data. Their
// provider items get the origin from. If the file has another key or is damaged, decode returns
// errBlock and leaves the block empty.
func (b *block) decode(data []byte, key [32]byte, from provider.Origin) error {
	if len(data) < blockHeadSize || string(data[:len(blockHead)]) != blockHead || [32]byte(data[len(blockHead):]) != key {
		return errBlock
	}
	body := data[blockHeadSize:]
	if binary.BigEndian.Uint32(data[blockHeadSize-4:]) != crc32.Checksum(body, castagnoli) {
		return errBlock
	}
	// The content is never modified, so strings can share its memory.
	d := decoder{data: body, text: unsafe.String(unsafe.SliceData(body), len(body)), origin: from, parts: make([]provider.Part, 0, 2*blockWidth)}
	var leaves [blockLeaves]knownLeaf
	for d.at < len(d.data) && !d.bad {
		slot := d.number(blockLeaves - 1)
		leaf := knownLeaf{id: d.string()}
		leaf.messages = make([]known, d.number(snapshot.LeafWidth))
		for i := range leaf.messages {
			d.message(&leaf.messages[i])
		}
		leaves[slot] = leaf
	}
	if d.bad {
		return errBlock
	}
	b.leaves = leaves
	return nil
}

// An encoder appends values to data.
type encoder struct{ data []byte }

func (e *encoder) number(n int) { e.data = binary.AppendUvarint(e.data, uint64(n)) }

func (e *encoder) string(s string) {
	e.number(len(s))
	e.data = append(e.data, s...)
}

func (e *encoder) message(k *known) {
	flags := 0
	set := func(flag int, on bool) {
		if on {
			flags |= flag
		}
	}
	set(isAssistant, k.role == provider.Assistant)
	set(isSystem, k.system)
	set(hasUsage, k.usage != nil)
	set(hasRaw, k.raw != nil)
	set(hasCalls, k.raw != nil && k.raw.Calls != nil)
	set(isSendable, k.raw != nil && k.raw.Calls != nil && k.raw.Calls.Sendable)
	e.number(flags)
	e.data = append(e.data, k.id[:]...)
	e.string(k.compacts)
	e.number(len(k.parts))
	for _, p := range k.parts {
		e.part(p)
	}
	if u := k.usage; u != nil {
		for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning} {
			e.data = binary.AppendVarint(e.data, n)
		}
	}
	if k.raw == nil {
		return
	}
	e.number(len(k.raw.Items))
	for _, item := range k.raw.Items {
		e.string(string(item))
	}
	if k.raw.Calls != nil {
		e.number(len(k.raw.Calls.IDs))
		for _, id := range k.raw.Calls.IDs {
			e.string(id)
		}
	}
}

func (e *encoder) part(p provider.Part) {
	switch p := p.(type) {
	case provider.Text:
		e.number(textPart)
		e.string(p.Text)
	case provider.Thought:
		e.number(thoughtPart)
		e.string(p.Text)
	case provider.Call:
		e.number(callPart)
		e.string(p.ID)
		e.string(p.Name)
		e.string(p.Arguments)
	case provider.Result:
		kind := resultPartOK
		if p.Failed {
			kind = resultPartFailed
		}
		e.number(kind)
		e.string(p.CallID)
		e.string(p.Text)
	}
}

// A decoder decodes values that an encoder wrote. After an error it sets bad and returns zero
// values.
type decoder struct {
	data []byte
	text string // data as a string
	at   int
	bad  bool

	origin provider.Origin
	parts  []provider.Part // a common slice for the parts of all messages
}

func (d *decoder) number(most int) int {
	n, size := binary.Uvarint(d.data[d.at:])
	if size <= 0 || n > uint64(most) || d.bad {
		d.bad = true
		return 0
	}
	d.at += size
	return int(n)
}

func (d *decoder) long() int64 {
	n, size := binary.Varint(d.data[d.at:])
	if size <= 0 {
		d.bad = true
		return 0
	}
	d.at += size
	return n
}

func (d *decoder) string() string {
	n := d.number(len(d.data))
	if n > len(d.data)-d.at {
		d.bad = true
		return ""
	}
	d.at += n
	return d.text[d.at-n : d.at]
}

func (d *decoder) bytes() []byte {
	n := len(d.string())
	return d.data[d.at-n : d.at : d.at]
}

func (d *decoder) message(k *known) {
	flags := d.number(1<<8 - 1)
	if d.bad || len(d.data)-d.at < len(k.id) {
		d.bad = true
		return
	}
	d.at += copy(k.id[:], d.data[d.at:])
	k.role, k.system = provider.User, flags&isSystem != 0
	k.compacts = d.string()
	first := len(d.parts)
	for n := d.number(len(d.data) - d.at); n > 0 && !d.bad; n-- {
		p := d.part()
		d.parts = append(d.parts, p)
		k.size += partSize(p)
	}
	k.parts = d.parts[first:len(d.parts):len(d.parts)]
	if flags&isAssistant != 0 {
		k.role = provider.Assistant
	} else if len(k.parts) > 0 {
		t, _ := k.parts[0].(provider.Text)
		k.text = t.Text
	}
	if flags&hasUsage != 0 {
		k.usage = &provider.Usage{}
		for _, n := range []*int64{&k.usage.Input, &k.usage.CacheRead, &k.usage.CacheWrite, &k.usage.Output, &k.usage.Reasoning} {
			*n = d.long()
		}
	}
	if flags&hasRaw != 0 {
		k.raw = d.raw(flags)
	}
}

func (d *decoder) raw(flags int) *provider.Raw {
	n := d.number(len(d.data) - d.at)
	raw := &provider.Raw{Origin: d.origin, Items: make([][]byte, 0, min(n, 16))}
	for ; n > 0 && !d.bad; n-- {
		raw.Items = append(raw.Items, d.bytes())
	}
	if flags&hasCalls != 0 {
		raw.Calls = &provider.RawCalls{Sendable: flags&isSendable != 0}
		for n := d.number(len(d.data) - d.at); n > 0 && !d.bad; n-- {
			raw.Calls.IDs = append(raw.Calls.IDs, d.string())
		}
	}
	return raw
}

func (d *decoder) part() provider.Part {
	switch kind := d.number(resultPartFailed); kind {
	case textPart:
		return provider.Text{Text: d.string()}
	case thoughtPart:
		return provider.Thought{Text: d.string()}
	case callPart:
		return provider.Call{ID: d.string(), Name: d.string(), Arguments: d.string()}
	default:
		return provider.Result{CallID: d.string(), Text: d.string(), Failed: kind == resultPartFailed}
	}
}
