//go:build unix

package odb

import (
	"os"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

func lockFile(f *os.File) error { return atomicfile.TryLock(f) }
