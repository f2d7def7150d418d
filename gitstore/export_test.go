package gitstore

var (
	EncodeListCache = encodeListCache
	DecodeListCache = decodeListCache

	EncodeVersionCache = encodeVersionCache
	DecodeVersionCache = decodeVersionCache
)
