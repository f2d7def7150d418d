package mountd

// mayWrite always returns true. It is never called, because Windows has no mounts.
func mayWrite(string) bool { return true }
