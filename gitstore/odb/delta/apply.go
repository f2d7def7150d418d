// Package delta applies and creates the deltas of Git packs (gitformat-pack(5), "Deltified representation"). A delta is
// a list of instructions that build the content of an object from parts of another object, its base, and from inserted
// bytes.
package delta

import (
	"fmt"

	"github.com/domarkx/domarkx"
)

// Sizes returns the sizes of base and result in bytes, with which a delta begins, and the instructions after them. The
// delta may be truncated after the sizes.
func Sizes(delta []byte) (base, result int64, rest []byte, err error) {
	for _, size := range []*int64{&base, &result} {
		for shift := 0; ; shift += 7 {
			if len(delta) == 0 || shift > 56 {
				return 0, 0, nil, errCorrupt("its sizes do not end")
			}
			c := delta[0]
			delta = delta[1:]
			*size |= int64(c&0x7f) << shift
			if c&0x80 == 0 {
				break
			}
		}
	}
	return base, result, delta, nil
}

func errCorrupt(what string) error {
	return fmt.Errorf("delta: %w: %s", domarkx.ErrCorrupt, what)
}

// firstPiece is the most memory, in bytes, that Apply allocates before it has any of the result: a wrong size in a
// delta then costs no more.
const firstPiece = 4 << 20

// Apply returns the result of applying a delta to its base. It returns [domarkx.ErrCorrupt] for an invalid delta, and
// [domarkx.ErrUnsupported] for a result of more than limit bytes. It allocates at most 4 MiB and twice the result,
// whatever sizes a hostile delta declares.
func Apply(base, delta []byte, limit int64) ([]byte, error) {
	baseSize, size, delta, err := Sizes(delta)
	if err != nil {
		return nil, err
	}
	if baseSize != int64(len(base)) {
		return nil, errCorrupt("it belongs to another base")
	}
	if size > limit {
		return nil, fmt.Errorf("delta with a result of %d bytes: %w: more than %d MiB", size, domarkx.ErrUnsupported, limit>>20)
	}
	if size > int64(len(delta))*(1<<24) {
		return nil, errCorrupt("it is too short for its result")
	}
	// It grows as it fills, so that a delta with a wrong size costs no memory.
	result := make([]byte, 0, min(size, firstPiece))
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op == 0 {
			return nil, errCorrupt("it has an unknown instruction")
		}
		var from []byte
		if op&0x80 == 0 {
			if int(op) > len(delta) {
				return nil, errCorrupt("it is truncated")
			}
			from, delta = delta[:op], delta[op:]
		} else {
			var args [7]byte // four of the offset, three of the length, little endian
			for i := range args {
				if op&(1<<i) == 0 {
					continue
				}
				if len(delta) == 0 {
					return nil, errCorrupt("it is truncated")
				}
				args[i] = delta[0]
				delta = delta[1:]
			}
			offset := int64(args[0]) | int64(args[1])<<8 | int64(args[2])<<16 | int64(args[3])<<24
			length := int64(args[4]) | int64(args[5])<<8 | int64(args[6])<<16
			if length == 0 {
				length = 1 << 16
			}
			if offset+length > int64(len(base)) {
				return nil, errCorrupt("it copies from beyond the end of its base")
			}
			from = base[offset : offset+length]
		}
		if int64(len(result)+len(from)) > size {
			return nil, errCorrupt("its result is longer than declared")
		}
		result = append(result, from...)
	}
	if int64(len(result)) != size {
		return nil, errCorrupt("its result is shorter than declared")
	}
	return result, nil
}
