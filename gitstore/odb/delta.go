package odb

import (
	"fmt"

	"github.com/domarkx/domarkx"
)

// deltaSizes reads the sizes of base and result that a delta begins with, and
// returns the instructions after them.
func deltaSizes(delta []byte) (base, result int64, rest []byte, err error) {
	for _, size := range []*int64{&base, &result} {
		for shift := 0; ; shift += 7 {
			if len(delta) == 0 || shift > 56 {
				return 0, 0, nil, errDelta("its sizes do not end")
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

func errDelta(what string) error {
	return fmt.Errorf("delta: %w: %s", domarkx.ErrCorrupt, what)
}

// applyDelta returns what a delta makes of its base (gitformat-pack(5), "deltified
// representation"). A delta can ask for far more than its own size; what it makes
// is never larger than maxObject.
func applyDelta(base, delta []byte) ([]byte, error) {
	baseSize, size, delta, err := deltaSizes(delta)
	if err != nil {
		return nil, err
	}
	if baseSize != int64(len(base)) {
		return nil, errDelta("it is one of another base")
	}
	if size > maxObject {
		return nil, errTooLarge(size)
	}
	if size > int64(len(delta))*(1<<24) {
		return nil, errDelta("it is too short for its result")
	}
	// Grown as it fills: a delta that lies about its result costs no memory.
	result := make([]byte, 0, min(size, firstPiece))
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op == 0 {
			return nil, errDelta("it has an unknown instruction")
		}
		var from []byte
		if op&0x80 == 0 {
			if int(op) > len(delta) {
				return nil, errDelta("it is cut short")
			}
			from, delta = delta[:op], delta[op:]
		} else {
			var args [7]byte // four of the offset, three of the length, little endian
			for i := range args {
				if op&(1<<i) == 0 {
					continue
				}
				if len(delta) == 0 {
					return nil, errDelta("it is cut short")
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
				return nil, errDelta("it copies from behind its base's end")
			}
			from = base[offset : offset+length]
		}
		if int64(len(result)+len(from)) > size {
			return nil, errDelta("it makes more than it says")
		}
		result = append(result, from...)
	}
	if int64(len(result)) != size {
		return nil, errDelta("it makes less than it says")
	}
	return result, nil
}
