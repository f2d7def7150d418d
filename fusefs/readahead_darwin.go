package fusefs

// readAhead does nothing: on macOS the kernel decides.
func readAhead(string, int) {}
