package version

import (
	"slices"

	"github.com/domarkx/domarkx/gitstore/odb"
)

var (
	EscapeName   = escapeName
	UnescapeName = unescapeName
	CheckName    = checkName
	TreeName     = treeName
)

// DecodeDirectory decodes a directory and reports whether encoding its files returns the same
// sidecar and entries.
func DecodeDirectory(entries []odb.TreeEntry, sidecar []byte) (same bool, err error) {
	self, children, err := decodeDirectory(entries, sidecar)
	if err != nil {
		return false, err
	}
	id, err := sidecarOf(entries)
	if err != nil {
		return false, err
	}
	again := encodeSidecar(self, children)
	return string(again) == string(sidecar) && slices.Equal(directoryEntries(children, id), entries), nil
}
