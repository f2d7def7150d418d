package gitstore

import (
	"encoding/binary"
	"hash/crc32"
)

var (
	LeafPath        = leafPath
	ParseTrashRef   = sessions.parseTrash
	EncodeListCache = encodeListCache
	DecodeListCache = decodeListCache
	DecodeOriginal  = decodeOriginal

	EncodeVersionCache = encodeVersionCache
	DecodeVersionCache = decodeVersionCache
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
