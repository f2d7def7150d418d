package odb

import "io"

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

// A Window is what packed content may repeat.
type Window struct{ window }

// Put keeps content that others may repeat.
func (w *Window) Put(content []byte) { w.put(content) }

// Delta returns what makes content, and the content that it makes it of; nil for none.
func (w *Window) Delta(content []byte) (delta, of []byte) {
	delta, base := w.delta(nil, content)
	if base == nil {
		return nil, nil
	}
	return delta, base.content
}

// Slack is how much room behind its destination Unpack can use.
const Slack = slack

// Unpack unpacks a stream whose length is known.
var Unpack = unpack

// WritePackIndex writes an index of objects, each with its checksum and offset.
func WritePackIndex(dst io.Writer, ids []ID, crcs []uint32, offsets []uint64, pack [20]byte) error {
	entries := make([]indexEntry, len(ids))
	for i := range entries {
		entries[i] = indexEntry{ids[i], crcs[i], offsets[i]}
	}
	return writePackIndex(dst, entries, pack)
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
