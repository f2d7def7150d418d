package fusefs

import "golang.org/x/text/unicode/norm"

// spelled returns the composed form of a name: macOS decomposes names, sessions have
// composed ones.
func spelled(name string) string { return norm.NFC.String(name) }
