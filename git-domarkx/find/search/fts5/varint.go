package fts5

import "math/bits"

// appendVarint appends a number in SQLite's format: seven bits per byte, the highest ones first, and eight bits in the
// ninth byte (https://www.sqlite.org/fileformat.html).
func appendVarint(dst []byte, n uint64) []byte {
	if n < 1<<7 {
		return append(dst, byte(n))
	}
	if n < 1<<14 {
		return append(dst, byte(n>>7)|0x80, byte(n)&0x7f)
	}
	if n >= 1<<56 {
		for shift := 57; shift >= 8; shift -= 7 {
			dst = append(dst, byte(n>>shift)|0x80)
		}
		return append(dst, byte(n))
	}
	for shift := (bits.Len64(n) - 1) / 7 * 7; shift > 0; shift -= 7 {
		dst = append(dst, byte(n>>shift)|0x80)
	}
	return append(dst, byte(n)&0x7f)
}

// varint returns the number at the beginning of data and its size in bytes. The size is 0 if data ends within the
// number.
func varint(data []byte) (n uint64, size int) {
	for i, c := range data {
		if i == 8 {
			return n<<8 | uint64(c), 9
		}
		n = n<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}
