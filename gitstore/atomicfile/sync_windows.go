package atomicfile

import "os"

// Sync does nothing: Windows only syncs files that are open for writing.
func Sync(*os.File) error { return nil }

// SyncDir does nothing: Windows cannot sync directories, and NTFS journals names.
func SyncDir(string) error { return nil }
