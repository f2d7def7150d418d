//go:build !unix

package odb

import "os"

// lockFile leaves the locking to the system, which removes no open file.
func lockFile(*os.File) (bool, error) { return true, nil }

func alive(int) bool { return true }
