// Package delta applies and creates the deltas of Git packs (gitformat-pack(5), "Deltified representation"). A delta is
// a list of instructions that build the content of an object from parts of another object, its base, and from inserted
// bytes.
package delta

import (
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
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
		var i instruction
		if i, delta, err = next(delta); err != nil {
			return nil, err
		}
		from := i.insert
		if from == nil {
			if i.offset+i.length > int64(len(base)) {
				return nil, errCorrupt("it copies from beyond the end of its base")
			}
			from = base[i.offset : i.offset+i.length]
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

// An instruction inserts bytes, or copies a part of the base.
type instruction struct {
	insert         []byte // nil if it copies
	offset, length int64
}

// next returns the first instruction of a delta, whose sizes were read, and the rest.
func next(delta []byte) (i instruction, rest []byte, err error) {
	op := delta[0]
	delta = delta[1:]
	if op == 0 {
		return i, nil, errCorrupt("it has an unknown instruction")
	}
	if op&0x80 == 0 {
		if int(op) > len(delta) {
			return i, nil, errCorrupt("it is truncated")
		}
		return instruction{insert: delta[:op]}, delta[op:], nil
	}
	var args [7]byte // four of the offset, three of the length, little endian
	for i := range args {
		if op&(1<<i) == 0 {
			continue
		}
		if len(delta) == 0 {
			return instruction{}, nil, errCorrupt("it is truncated")
		}
		args[i] = delta[0]
		delta = delta[1:]
	}
	i.offset = int64(args[0]) | int64(args[1])<<8 | int64(args[2])<<16 | int64(args[3])<<24
	i.length = int64(args[4]) | int64(args[5])<<8 | int64(args[6])<<16
	if i.length == 0 {
		i.length = 1 << 16
	}
	return i, delta, nil
}

// Insertions returns the bytes that a delta inserts, with a line end in place of each copy. If the delta is invalid, it
// returns [domarkx.ErrCorrupt] and the bytes up to there.
func Insertions(delta []byte) ([]byte, error) {
	_, _, delta, err := Sizes(delta)
	if err != nil {
		return nil, err
	}
	var all []byte
	for len(delta) > 0 {
		var i instruction
		if i, delta, err = next(delta); err != nil {
			return all, err
		}
		if i.insert == nil {
			all = append(all, '\n')
		}
		all = append(all, i.insert...)
	}
	return all, nil
}
