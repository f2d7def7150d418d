package fusefs

import "golang.org/x/text/unicode/norm"

// spelled returns a name as the mount knows it: macOS decomposes names, sessions
// have composed ones.
func spelled(name string) string { return norm.NFC.String(name) }
