package beneath

import (
	"os"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A File is an open regular file.
type File struct{ *os.File }

// Sync syncs the file, even if it is open only for reading, where the file system can.
func (f *File) Sync() error { return atomicfile.Sync(f.File) }
