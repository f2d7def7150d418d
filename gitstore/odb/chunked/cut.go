// Package chunked stores large content in a Git repository as chunks and a tree of these. In place of the content it
// stores a small text, the pointer. Where a chunk ends depends on the bytes before its end, so that after a change in a
// large file only the changed chunks are stored again. SPEC.md specifies the format.
package chunked

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Parameters of the cuts, in bytes. They are part of the format (SPEC.md).
const (
	minChunk = 16 << 10
	maxChunk = 256 << 10
	// gearWindow is the number of bytes on which a cut depends: the hash has 64 bits, and each byte shifts earlier ones
	// by one.
	gearWindow = 64
	// gearBelow is 2^64 / 49152: a hash is below it after 48 KiB on average, so
	// that chunks, which have at least 16 KiB, have 64 KiB on average.
	gearBelow = 375299968947541
)

// gear returns the table of the gear hash: for each byte the first eight bytes,
// big endian, of the SHA-256 of "domarkx gear" and that byte.
var gear = sync.OnceValue(func() *[256]uint64 {
	var table [256]uint64
	for i := range table {
		sum := sha256.Sum256(append([]byte("domarkx gear"), byte(i)))
		table[i] = binary.BigEndian.Uint64(sum[:])
	}
	return &table
})

// cut returns the length of the first chunk of data. data is the rest of the content, or at least maxChunk bytes of it.
func cut(data []byte) int {
	if len(data) <= minChunk {
		return len(data)
	}
	table := gear()
	end := min(len(data), maxChunk)
	var h uint64
	for _, c := range data[minChunk-gearWindow : minChunk-1] {
		h = h<<1 + table[c]
	}
	for i, c := range data[minChunk-1 : end] {
		h = h<<1 + table[c]
		if h < gearBelow {
			return minChunk + i
		}
	}
	return end
}

// eachChunk calls f with each chunk of the content of r. f must not keep the chunk.
func eachChunk(r io.Reader, f func(chunk []byte) error) error {
	buffer := make([]byte, 4*maxChunk)
	have, whole := 0, false
	for {
		if !whole {
			n, err := io.ReadFull(r, buffer[have:])
			have += n
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				whole = true
			} else if err != nil {
				return fmt.Errorf("read content: %w", err)
			}
		}
		rest := buffer[:have]
		for len(rest) >= maxChunk || whole && len(rest) > 0 {
			n := cut(rest)
			if err := f(rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		if whole {
			return nil
		}
		have = copy(buffer, rest)
	}
}
