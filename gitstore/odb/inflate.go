package odb

import (
	"encoding/binary"
	"errors"
	"sync"
)

var (
	errNotZlib     = errors.New("it does not begin as zlib data does")
	errNotDeflated = errors.New("it is no deflated data")
	errCutShort    = errors.New("it is cut short")
	errLonger      = errors.New("it is longer than it says")
	errShorter     = errors.New("it is shorter than it says")
)

// An unpacker unpacks a zlib stream (RFC 1950 and 1951) from memory to memory whose
// length is known. Without the window and the calls that a stream needs it is twice
// as fast as the library that reads streams, and content that did not compress is
// copied once. The stream's checksum is not looked at: objects have their ids, and what
// is packed has a better one in the index.
type unpacker struct {
	src, dst []byte
	at, end  int    // of src what was read, of dst what was written
	bits     uint64 // that were read, the next one lowest
	count    uint   // of them; those above are what src goes on with, or 0

	// what a block tells of its codes
	lens  [1 << lenBits]uint32
	sizes [286 + 30]uint8
	codes codes
}

var unpackers = sync.Pool{New: func() any { return new(unpacker) }}

// unpack fills dst with what src begins with, which has to be as long. Behind dst, up
// to its capacity, it writes whatever it likes; it is fastest with slack bytes there.
// Neither is kept.
func unpack(dst, src []byte) error {
	_, err := unpackStream(dst, src)
	return err
}

// unpackStream is unpack, and returns how many bytes of src that took.
func unpackStream(dst, src []byte) (int, error) {
	u := unpackers.Get().(*unpacker)
	u.src, u.dst, u.at, u.end, u.bits, u.count = src, dst, 2, 0, 0, 0
	err := u.stream()
	taken := u.at - int(u.count/8) + checksumSize
	u.src, u.dst = nil, nil
	unpackers.Put(u)
	if err != nil {
		return 0, errInflate(err)
	}
	return taken, nil
}

const checksumSize = 4 // of a stream, at its end

func (u *unpacker) stream() error {
	if len(u.src) < 2 {
		return errCutShort
	}
	if c, f := u.src[0], u.src[1]; c&15 != 8 || c>>4 > 7 || f&0x20 != 0 || (uint(c)<<8|uint(f))%31 != 0 {
		return errNotZlib
	}
	for last := false; !last; {
		u.refill()
		if u.count < 3 {
			return errCutShort
		}
		head := u.take(3)
		last = head&1 != 0
		var err error
		switch head >> 1 {
		case 0:
			err = u.stored()
		case 1:
			err = u.block(fixedCodes())
		case 2:
			if err = u.dynamic(); err == nil {
				err = u.block(&u.codes)
			}
		default:
			err = errNotDeflated
		}
		if err != nil {
			return err
		}
	}
	if u.end < len(u.dst) {
		return errShorter
	}
	if u.at-int(u.count/8)+checksumSize > len(u.src) {
		return errCutShort
	}
	return nil
}

// refill makes sure of 56 bits, or of all that are left.
func (u *unpacker) refill() {
	for u.count <= 56 && u.at < len(u.src) {
		u.bits |= uint64(u.src[u.at]) << u.count
		u.at++
		u.count += 8
	}
}

// take takes bits that are there.
func (u *unpacker) take(n uint) uint {
	v := uint(u.bits & (1<<n - 1))
	u.bits >>= n
	u.count -= n
	return v
}

// stored copies a block that is not compressed.
func (u *unpacker) stored() error {
	u.at -= int(u.count / 8)
	u.bits, u.count = 0, 0
	rest := u.src[u.at:]
	if len(rest) < 4 {
		return errCutShort
	}
	n := int(binary.LittleEndian.Uint16(rest))
	if n^0xffff != int(binary.LittleEndian.Uint16(rest[2:])) {
		return errNotDeflated
	}
	rest = rest[4:]
	if n > len(rest) {
		return errCutShort
	}
	if n > len(u.dst)-u.end {
		return errLonger
	}
	u.end += copy(u.dst[u.end:], rest[:n])
	u.at += 4 + n
	return nil
}

// lenOrder is the order in which the lengths of the codes of lengths stand.
var lenOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the description of a block's codes and makes their tables.
func (u *unpacker) dynamic() error {
	u.refill()
	if u.count < 14 {
		return errCutShort
	}
	lits, dists, lens := int(u.take(5))+257, int(u.take(5))+1, int(u.take(4))+4
	if lits > 286 || dists > 30 {
		return errNotDeflated
	}
	var sizes [19]uint8
	for _, symbol := range lenOrder[:lens] {
		u.refill()
		if u.count < 3 {
			return errCutShort
		}
		sizes[symbol] = uint8(u.take(3))
	}
	if !fill(u.lens[:], lenBits, sizes[:], lenSymbols()[:]) {
		return errNotDeflated
	}
	all := u.sizes[:lits+dists]
	for i := 0; i < len(all); {
		u.refill()
		e := u.lens[u.bits&(1<<lenBits-1)]
		n, symbol := uint(e&0xff), e>>16
		if e&isBad != 0 || n == 0 {
			return errNotDeflated
		}
		if n+7 > u.count && n+extraOf(symbol) > u.count {
			return errCutShort
		}
		u.take(n)
		size, times := uint8(symbol), 1
		switch symbol {
		case 16:
			if i == 0 {
				return errNotDeflated
			}
			size, times = all[i-1], 3+int(u.take(2))
		case 17:
			size, times = 0, 3+int(u.take(3))
		case 18:
			size, times = 0, 11+int(u.take(7))
		}
		if times > len(all)-i {
			return errNotDeflated
		}
		for range times {
			all[i] = size
			i++
		}
	}
	if all[256] == 0 { // no end
		return errNotDeflated
	}
	if !fill(u.codes.lit[:], litBits, all[:lits], litSymbols()[:]) || !fill(u.codes.dist[:], distBits, all[lits:], distSymbols()[:]) {
		return errNotDeflated
	}
	return nil
}

// extraOf returns how many bits follow the symbol of a length of codes.
func extraOf(symbol uint32) uint {
	switch symbol {
	case 16:
		return 2
	case 17:
		return 3
	case 18:
		return 7
	}
	return 0
}
