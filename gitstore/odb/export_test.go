package odb

// What fuzz tests reach for: the decoders without the files around them.
var (
	DecodeLoose = decodeLoose
	ApplyDelta  = applyDelta
	Unquoted    = unquoted
	SplitList   = splitList
)

// FindInIndex decodes an index and searches it.
func FindInIndex(raw []byte, id ID) (offset int64, objects int, ok bool, err error) {
	x, err := parseIndex(raw)
	if err != nil {
		return 0, 0, false, err
	}
	offset, ok = x.find(id)
	return offset, x.n, ok, nil
}

// IndexedIDs returns the ids of an index in its order.
func IndexedIDs(raw []byte) ([]ID, error) {
	x, err := parseIndex(raw)
	if err != nil {
		return nil, err
	}
	ids := make([]ID, x.n)
	for i := range ids {
		ids[i] = ID(x.id(i))
	}
	return ids, nil
}
