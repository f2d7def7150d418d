package odb

// Decoders for fuzz tests.
var (
	DecodeLoose = decodeLoose
	Unquoted    = unquoted
	SplitList   = splitList
)

// Die closes the files of a batch, and with them their locks, as if its process had been killed.
func Die(b *Batch) {
	if w := b.pack; w != nil && w.keep != nil {
		w.keep.file.Abort()
		w.close()
	}
	b.state = ended
}

// JoinPacks is the number of packs that are joined.
const JoinPacks = joinPacks
