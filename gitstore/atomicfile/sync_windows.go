package atomicfile

// SyncDir does nothing: Windows cannot sync folders, and NTFS keeps a journal of names.
func SyncDir(string) error { return nil }
