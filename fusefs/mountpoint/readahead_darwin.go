package mountpoint

// ReadAhead does nothing: macOS decides on its own.
func ReadAhead(string, int) {}
