package snapshot

var (
	LeafPath       = leafPath
	DecodeOriginal = decodeOriginal
)

// Encode encodes what DecodeOriginal decoded.
func (o *Origin) Encode() []byte { return o.encode() }
