//go:build !unix

package odb

import "os"

// lockFile does nothing, because this system does not remove open files.
func lockFile(*os.File) error { return nil }

// A mapping is the content of a file in read-only memory.
type mapping struct{ bytes []byte }

func mapFile(name string) (*mapping, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &mapping{b}, nil
}

func (m *mapping) release() {}

func (m *mapping) close() error { return nil }
