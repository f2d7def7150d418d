//go:build !linux

package odb

import "os"

// A sink receives data that is read only to get it into the kernel's cache.
type sink struct{ piece []byte }

func newSink() (sink, error) { return sink{make([]byte, aheadPiece)}, nil }

// read reads n bytes at an offset, at most aheadPiece.
func (s sink) read(f *os.File, at int64, n int) error {
	_, err := f.ReadAt(s.piece[:n], at)
	return err
}

func (s sink) Close() error { return nil }
