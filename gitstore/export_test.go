package gitstore

import (
	"encoding/binary"
	"hash/crc32"
)

var (
	EncodeListCache = encodeListCache
	DecodeListCache = decodeListCache

	EncodeVersionCache = encodeVersionCache
	DecodeVersionCache = decodeVersionCache
)

// SealListCache returns a list cache of records, with their checksum.
func SealListCache(records []byte) []byte {
	data := append(EncodeListCache(nil), records...)
	binary.BigEndian.PutUint32(data[len(listCacheMagic):], crc32.Checksum(records, crc32.MakeTable(crc32.Castagnoli)))
	return data
}
