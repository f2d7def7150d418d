package durable

// SyncFolder does nothing: folders cannot be synced, and NTFS keeps a journal of names.
func SyncFolder(string) error { return nil }
