package odb

// Decoders for fuzz tests.
var (
	DecodeLoose = decodeLoose
	Unquoted    = unquoted
	SplitList   = splitList
)

// NewFile is a file that is being written.
type NewFile struct{ newFile }

// CreateTemp creates a file with that content and a temporary name.
func CreateTemp(objects, prefix string, content []byte) (*NewFile, error) {
	f, err := createTemp(objects, prefix)
	if err == nil {
		_, err = f.f.Write(content)
	}
	return &NewFile{f}, err
}

// Temp returns the temporary name.
func (f *NewFile) Temp() string { return f.temp }

// Place gives the file its name; see [newFile.place].
func (f *NewFile) Place(objects, path string) error { return f.place(objects, path) }

// Die closes the files of a batch, and with them their locks, as if its process had been killed.
func Die(b *Batch) {
	if w := b.pack; w != nil && w.keep != nil {
		w.keep.file.discard()
		w.close()
	}
	b.state = ended
}

// JoinPacks is the number of packs that are joined.
const JoinPacks = joinPacks
