package gitstore

import (
	"slices"

	"github.com/domarkx/domarkx/gitstore/odb"
)

// What the external tests of names and folders need.
var (
	EscapeName       = escapeName
	UnescapeName     = unescapeName
	CheckVersionName = checkVersionName
	TreeName         = treeName
)

// DecodeFolder decodes a folder, and reports whether its children make the same one again.
func DecodeFolder(entries []odb.TreeEntry, sidecar []byte) (same bool, err error) {
	self, children, err := decodeFolder(entries, sidecar)
	if err != nil {
		return false, err
	}
	id, err := sidecarOf(entries)
	if err != nil {
		return false, err
	}
	again := encodeSidecar(self, children)
	return string(again) == string(sidecar) && slices.Equal(folderEntries(children, id), entries), nil
}
