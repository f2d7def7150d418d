//go:build !linux

package cover

import "errors"

// A Folder is of Linux alone.
type Folder struct{}

// Open returns a folder that makes no files.
func Open(string) *Folder { return &Folder{} }

// Close does nothing.
func (*Folder) Close() error { return nil }

// Space is of Linux alone.
func (*Folder) Space() (size, free int64, err error) { return 0, 0, errors.ErrUnsupported }

// Create is of Linux alone.
func (*Folder) Create(Attributes) (*File, error) { return nil, errors.ErrUnsupported }

// A File is of Linux alone.
type File struct{}

// WriteAt is of Linux alone.
func (*File) WriteAt([]byte, int64) (int, error) { return 0, errors.ErrUnsupported }

// Sync is of Linux alone.
func (*File) Sync() error { return errors.ErrUnsupported }

// Mounted is of Linux alone.
func (*File) Mounted() bool { return false }

// Cover is of Linux alone.
func (*File) Cover(Mount, Place) error { return errors.ErrUnsupported }

// Unchanged is of Linux alone.
func (*File) Unchanged() bool { return true }

// Remove does nothing.
func (*File) Remove() error { return nil }

// Covered is of Linux alone.
func (Mount) Covered(Place) (bool, error) { return false, errors.ErrUnsupported }

// Uncover is of Linux alone.
func (*File) Uncover(Mount, Place) error { return errors.ErrUnsupported }
