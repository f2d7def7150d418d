package size

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// objects is a list of ids in ascending order. A map would need five times the memory of the ids' bytes.
type objects struct {
	ids  []byte
	size int // of an id, in bytes
	// fanout has, for each value of the first two bytes, the number of ids with smaller ones.
	fanout [1<<16 + 1]int32
}

// add adds an id in hexadecimal digits, which is greater than all before.
func (o *objects) add(digits []byte) error {
	if hex.DecodedLen(len(digits)) != o.size {
		return fmt.Errorf("object id %q: %w", digits, domarkx.ErrInvalid)
	}
	var err error
	n := len(o.ids)
	if o.ids, err = hex.AppendDecode(o.ids, digits); err != nil {
		return fmt.Errorf("object id %q: %w", digits, domarkx.ErrInvalid)
	}
	if n > 0 && bytes.Compare(o.ids[n-o.size:n], o.ids[n:]) >= 0 {
		return fmt.Errorf("object id %s: %w: it is not in ascending order", digits, domarkx.ErrInvalid)
	}
	o.fanout[int(binary.BigEndian.Uint16(o.ids[n:]))+1]++ // until end
	return nil
}

// end completes the list.
func (o *objects) end() {
	for i := range o.fanout[1:] {
		o.fanout[i+1] += o.fanout[i]
	}
}

// find returns the number of an object, and whether the repository has it.
func (o *objects) find(id odb.ID) (int32, bool) {
	want := id.Bytes()
	if len(want) != o.size {
		return 0, false
	}
	first := binary.BigEndian.Uint16(want)
	for low, high := o.fanout[first], o.fanout[int(first)+1]; low < high; {
		at := low + (high-low)/2
		switch c := bytes.Compare(o.ids[int(at)*o.size:][:o.size], want); {
		case c == 0:
			return at, true
		case c < 0:
			low = at + 1
		default:
			high = at
		}
	}
	return 0, false
}
