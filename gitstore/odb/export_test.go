package odb

// What fuzz tests reach for: the decoders without the files around them.
var (
	DecodeLoose = decodeLoose
	Unquoted    = unquoted
	SplitList   = splitList
)

// NewFile is a file being written.
type NewFile struct{ newFile }

// CreateTemp creates a file with that content under a temporary name.
func CreateTemp(objects, prefix string, content []byte) (*NewFile, error) {
	f, err := createTemp(objects, prefix)
	if err == nil {
		_, err = f.f.Write(content)
	}
	return &NewFile{f}, err
}

// Temp returns the temporary name.
func (f *NewFile) Temp() string { return f.temp }

// Place gives the file its name, see [newFile.place].
func (f *NewFile) Place(objects, path string) error { return f.place(objects, path) }

// Die ends a batch as the death of its process does: its files are closed, and with them
// their locks.
func Die(b *Batch) {
	if w := b.pack; w != nil && w.keep != nil {
		w.keep.file.discard()
		w.close()
	}
	b.state = ended
}

// ReadAhead returns up to where the only pack of a database was read ahead, and its size, when
// that has ended.
func ReadAhead(d *Database) (to, size int64) {
	p := d.packs[0]
	p.ahead.work.Wait()
	return p.ahead.next, int64(len(p.data.Load().bytes))
}

// JoinPacks is how many packs are joined.
const JoinPacks = joinPacks
