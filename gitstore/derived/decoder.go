package derived

import (
	"encoding/binary"
	"encoding/hex"
)

// A Decoder reads numbers and texts, as [binary.AppendVarint], [binary.AppendUvarint] and [AppendText] append them. After
// invalid input it returns zero values.
type Decoder struct {
	rest string
	bad  bool
}

// NewDecoder returns a decoder of content.
func NewDecoder(content string) *Decoder { return &Decoder{rest: content} }

// AppendText appends a text after its length.
func AppendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// AppendHex appends the bytes of an id in hexadecimal digits, after their number. Digits that are none are left out.
func AppendHex(dst []byte, digits string) []byte {
	raw, _ := hex.DecodeString(digits)
	return AppendText(dst, string(raw))
}

// More reports whether there is more to read.
func (d *Decoder) More() bool { return len(d.rest) > 0 && !d.bad }

// Bad reports whether the input was invalid.
func (d *Decoder) Bad() bool { return d.bad }

// Take returns the next n bytes.
func (d *Decoder) Take(n int) string {
	if n < 0 || n > len(d.rest) {
		d.Fail()
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

// Varint returns the next signed number.
func (d *Decoder) Varint() int64 {
	n := d.Uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

// Uvarint returns the next unsigned number.
func (d *Decoder) Uvarint() (n uint64) {
	for i := range min(len(d.rest), binary.MaxVarintLen64) {
		c := d.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 && (i < binary.MaxVarintLen64-1 || c <= 1) { // the last byte has one bit
			d.rest = d.rest[i+1:]
			return n
		}
	}
	d.Fail()
	return 0
}

// Count returns the next unsigned number, which counts items of at least size bytes each. More items than can follow are
// invalid, so that a damaged number reserves no memory.
func (d *Decoder) Count(size int) int {
	n := d.Uvarint()
	if n > uint64(len(d.rest)/size) {
		d.Fail()
		return 0
	}
	return int(n)
}

// Hex returns the hexadecimal digits of the next id.
func (d *Decoder) Hex() string { return hex.EncodeToString([]byte(d.Text())) }

// Text returns the next text.
func (d *Decoder) Text() string { return d.Take(d.Count(1)) }

// Fail marks the input as invalid.
func (d *Decoder) Fail() { d.bad, d.rest = true, "" }
