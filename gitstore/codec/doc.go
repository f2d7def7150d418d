// Package codec encodes and decodes the small files and commit messages of sessions and
// workspaces, as SPEC.md in package gitstore specifies them. It does no input or output.
// Encodings are canonical: a decoder accepts only what the encoder writes, and reports
// anything else as [domarkx.ErrCorrupt], or as [domarkx.ErrUnsupported] for a later format.
package codec

import "strings"

// LeafWidth is the number of messages in a leaf of a conversation.
const LeafWidth = 16

// IsSHA256 reports whether s consists of 64 lower-case hexadecimal digits.
func IsSHA256(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }
