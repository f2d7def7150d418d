//go:build !unix

package odb

import "os"

// readOnTouch reports whether the system reads pages of a mapped file from the disk when they are accessed.
const readOnTouch = false

// A mapping is the content of a file in read-only memory.
type mapping struct {
	bytes []byte
	read  pieces
}

func mapFile(name string) (*mapping, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &mapping{b, newPieces(len(b))}, nil
}

func (m *mapping) release() {}

func (m *mapping) close() error { return nil }
