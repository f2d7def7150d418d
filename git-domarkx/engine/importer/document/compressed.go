package document

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
)

// zstdMagic is the beginning of a Zstandard frame (RFC 8878, section 3.1.1).
const zstdMagic = "\x28\xb5\x2f\xfd"

// Limits in bytes of decompression: of the window, which is in memory, and of the document, which is in a file.
const (
	maxZstdWindow   = 128 << 20
	maxUncompressed = 16 << 30
)

// isCompressed reports whether a file begins with zstdMagic.
func isCompressed(f io.ReaderAt) bool {
	head := make([]byte, len(zstdMagic))
	n, _ := f.ReadAt(head, 0)
	return string(head[:n]) == zstdMagic
}

// uncompressed returns a reader of the content of a compressed file. The caller closes it.
func uncompressed(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderLowmem(true))
}

// uncompress writes the content of a compressed file to w.
func uncompress(w io.Writer, f *os.File) error {
	z, err := uncompressed(f)
	if err != nil {
		return err
	}
	defer z.Close()
	n, err := io.Copy(w, io.LimitReader(z, maxUncompressed+1))
	if err == nil && n > maxUncompressed {
		err = fmt.Errorf("it has more than %d GiB uncompressed", maxUncompressed>>30)
	}
	if err != nil {
		return compressedError(err)
	}
	return nil
}

// HeadOf reads the beginning of the document in a file, at most [format.HeadSize] bytes. If a compressed file is damaged, it
// returns what can be read.
func HeadOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !isCompressed(f) {
		return io.ReadAll(io.LimitReader(f, format.HeadSize))
	}
	z, err := uncompressed(f)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	head, err := io.ReadAll(io.LimitReader(z, format.HeadSize))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && len(head) == 0 {
		return nil, compressedError(err)
	}
	return head, nil
}

// compressedError wraps an error of reading a compressed file.
func compressedError(err error) error {
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return fmt.Errorf("%w: reading the compressed file: it was compressed with a window of more than %d MiB; compress it again without --long and --ultra", domarkx.ErrInvalid, maxZstdWindow>>20)
	}
	return fmt.Errorf("%w: reading the compressed file: %w", domarkx.ErrInvalid, err)
}
