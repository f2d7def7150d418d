package gitstore

var (
	EncodeListCache = encodeListCache
	DecodeListCache = decodeListCache
)
