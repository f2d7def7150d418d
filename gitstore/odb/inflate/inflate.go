// Package inflate decompresses a zlib stream (RFC 1950) that is in memory into memory of known size, and finds its end.
package inflate

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

// Errors of [Decode]. Each means that the stream is damaged or that its size is not the expected one.
var (
	errHeader    = errors.New("it does not begin with a zlib header")
	errTruncated = errors.New("it is truncated")
	errLonger    = errors.New("it is longer than its declared size")
	errShorter   = errors.New("it is shorter than its declared size")
)

const (
	headerSize   = 2 // bytes, at the beginning of a stream
	checksumSize = 4 // bytes, at its end
)

// A decoder reads a stream from memory. Decoders are reused, since creating one takes longer than decompressing a small object.
type decoder struct {
	src   bytes.Reader // flate reads it byte by byte, and so nothing after the stream
	flate io.ReadCloser
}

var decoders = sync.Pool{New: func() any {
	d := new(decoder)
	d.flate = flate.NewReader(&d.src)
	return d
}}

// Decode decompresses the zlib stream at the beginning of src into dst, and returns the length of the stream in bytes.
// It returns an error unless the decompressed data has exactly the size of dst.
//
// Decode does not verify the Adler-32 checksum of the stream, because Git identifies objects by a hash, and packed ones
// have a CRC-32 in the index.
func Decode(dst, src []byte) (n int, err error) {
	d, err := open(src)
	if err != nil {
		return 0, err
	}
	defer d.release()
	switch _, err := io.ReadFull(d.flate, dst); {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) && d.ended():
		return 0, errShorter
	case errors.Is(err, io.ErrUnexpectedEOF):
		return 0, errTruncated
	case err != nil:
		return 0, err
	case !d.ended():
		return 0, errLonger
	}
	n = len(src) - d.src.Len() + checksumSize
	if n > len(src) {
		return 0, errTruncated
	}
	return n, nil
}

// Head decompresses the beginning of the zlib stream at the beginning of src into dst, and returns the number of bytes, which is
// less than the length of dst if the stream is shorter.
func Head(dst, src []byte) (n int, err error) {
	d, err := open(src)
	if err != nil {
		return 0, err
	}
	defer d.release()
	if n, err = io.ReadFull(d.flate, dst); err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// open returns a decoder that has read the header of the stream. The caller releases it.
func open(src []byte) (*decoder, error) {
	if len(src) < headerSize {
		return nil, errTruncated
	}
	if c, f := src[0], src[1]; c&15 != 8 || c>>4 > 7 || f&0x20 != 0 || (uint(c)<<8|uint(f))%31 != 0 {
		return nil, errHeader
	}
	d := decoders.Get().(*decoder)
	d.src.Reset(src[headerSize:])
	return d, d.flate.(flate.Resetter).Reset(&d.src, nil)
}

func (d *decoder) release() {
	d.src.Reset(nil) // keeps nothing of the stream in memory
	decoders.Put(d)
}

// ended reads on, and reports whether the stream had ended.
func (d *decoder) ended() bool {
	var more [1]byte
	n, err := io.ReadFull(d.flate, more[:])
	return n == 0 && err == io.EOF
}
