package atomicfile

import "os"

// Sync does nothing: Windows syncs only what is open for writing.
func Sync(*os.File) error { return nil }

// SyncDir does nothing: Windows cannot sync folders, and NTFS keeps a journal of names.
func SyncDir(string) error { return nil }
