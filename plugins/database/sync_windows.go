package database

// SyncFolder does nothing: folders cannot be synced, and NTFS keeps a journal.
func SyncFolder(string) error { return nil }
