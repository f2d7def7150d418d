package gitstore

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// Codecs for external tests.
var (
	EncodeEntries    = encodeEntries
	DecodeEntries    = decodeEntries
	EncodeHeaderFile = encodeHeaderFile
	DecodeHeaderFile = decodeHeaderFile
	EncodeTombstones = encodeTombstones
	DecodeTombstones = decodeTombstones
	EncodeMessage    = encodeMessage
	DecodeMessage    = decodeMessage
	IncludeName      = includeName
	IncludePath      = includePath
	LeafPath         = leafPath
	ParseTrashRef    = sessions.parseTrash
	EncodeListCache  = encodeListCache
	DecodeListCache  = decodeListCache
	DecodeOriginal   = decodeOriginal
	DecodeCommit     = decodeCommit

	EncodeVersionCache   = encodeVersionCache
	DecodeVersionCache   = decodeVersionCache
	EncodeManifest       = encodeManifest
	DecodeManifest       = decodeManifest
	EncodeVersionMessage = encodeVersionMessage
	DecodeVersionMessage = decodeVersionMessage
)

// Clash returns the error for a new name besides others.
func Clash(name string, others ...string) error {
	x := newNameIndex(sessions)
	for _, other := range others {
		x.add(other)
	}
	return x.check(name)
}

// SealListCache returns a list cache of records, with their checksum.
func SealListCache(records []byte) []byte {
	data := append(EncodeListCache(nil), records...)
	binary.BigEndian.PutUint32(data[len(listCacheMagic):], crc32.Checksum(records, crc32.MakeTable(crc32.Castagnoli)))
	return data
}

// Encode encodes what DecodeOriginal decoded.
func (o *Origin) Encode() []byte { return o.encode() }

// Encode encodes what DecodeCommit decoded.
func (c *commitObject) Encode() ([]byte, error) { return c.encode() }

// EncodeCommit encodes a commit.
func EncodeCommit(tree odb.ID, parents []odb.ID, author, committer domarkx.Signature, message string) ([]byte, error) {
	return (&commitObject{tree, parents, author, committer, []byte(message)}).encode()
}

// Message returns the commit message.
func (c *commitObject) Message() string { return string(c.message) }

// Parents returns the number of parents.
func (c *commitObject) Parents() int { return len(c.parents) }
