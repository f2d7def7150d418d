//go:build !linux

package odb

import "os"

// oneJournal is false where it is not known how the file systems behave.
func oneJournal(string) bool { return false }

func writeBack(f *os.File, wait bool) error { return f.Sync() }
