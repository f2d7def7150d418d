package gitstore

import (
	"encoding/binary"
	"hash/crc32"
)

// What the external tests of the codecs need.
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

// Clash returns the error of a new name beside others.
func Clash(name string, others ...string) error {
	x := newNameIndex(sessions)
	for _, other := range others {
		x.add(other)
	}
	return x.check(name)
}

// SealListCache makes a list cache of records, with the checksum that they have.
func SealListCache(records []byte) []byte {
	data := append(EncodeListCache(nil), records...)
	binary.BigEndian.PutUint32(data[len(listCacheMagic):], crc32.Checksum(records, crc32.MakeTable(crc32.Castagnoli)))
	return data
}

// Encode writes what DecodeOriginal read.
func (o *Origin) Encode() []byte { return o.encode() }

// Encode writes what DecodeCommit read.
func (c *commitObject) Encode() []byte { return c.encode() }
