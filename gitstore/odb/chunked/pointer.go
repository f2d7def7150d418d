package chunked

import (
	"bytes"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A Pointer describes content in chunks. It is stored in place of the content.
type Pointer struct {
	Size   int64 // size of the content in bytes
	SHA256 [32]byte
	Chunks odb.ID // id of the chunk tree
}

// pointerHead is the first line of a pointer.
const pointerHead = "domarkx-large 1\n"

// MaxPointer is the length in bytes of the longest pointer.
const MaxPointer = 256

// Encode returns a pointer as four lines of text. A pointer has only this encoding.
func (p Pointer) Encode() []byte {
	return fmt.Appendf(nil, pointerHead+"size %d\nsha256 %x\nchunks %s\n", p.Size, p.SHA256, p.Chunks)
}

// DecodePointer decodes a pointer in a repository with a hash function. Anything but the output of [Pointer.Encode] is
// [domarkx.ErrInvalid].
func DecodePointer(by oid.Hash, data []byte) (Pointer, error) {
	var p Pointer
	var digest []byte
	var chunks string
	_, err := fmt.Sscanf(string(data[:min(len(data), MaxPointer)]), pointerHead+"size %d\nsha256 %x\nchunks %s\n", &p.Size, &digest, &chunks)
	if err == nil {
		copy(p.SHA256[:], digest)
		p.Chunks, err = by.Parse(chunks)
	}
	if err != nil || p.Size < 0 || !bytes.Equal(p.Encode(), data) {
		return Pointer{}, fmt.Errorf("pointer to large content: %w", domarkx.ErrInvalid)
	}
	return p, nil
}

// IsPointer reports whether a blob is a pointer. Content that has the form of a pointer is itself stored in chunks: so
// a blob that is a pointer is never content.
func IsPointer(by oid.Hash, data []byte) bool {
	if len(data) > MaxPointer || !bytes.HasPrefix(data, []byte(pointerHead)) {
		return false // the usual case
	}
	_, err := DecodePointer(by, data)
	return err == nil
}
