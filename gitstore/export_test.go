package gitstore

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
	ParseTrashRef    = parseTrashRef
)

// Clash returns the error of a new name beside others.
func Clash(name string, others ...string) error {
	x := newNameIndex()
	for _, other := range others {
		x.add(other)
	}
	return x.check(name)
}
