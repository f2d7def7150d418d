package odb

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// ourMark follows "pack-" in the names of this package's packs. The rest of the name is random, so that of two
// processes that write the same objects, neither removes the .keep file of the other's pack or replaces that pack. The name
// has as many digits as an id: git repack ignores packs with shorter names.
const ourMark = "646f6d78"

func newPackName(by oid.Hash) string {
	random := make([]byte, by.Size()-len(ourMark)/2)
	rand.Read(random)
	return fmt.Sprintf("pack-%s%x", ourMark, random)
}

// IsOurPack reports whether a file in a pack directory belongs to a pack that this package has written, and that is
// therefore durable.
func IsOurPack(name string) bool { return strings.HasPrefix(name, "pack-"+ourMark) }

// finish makes the pack durable and gives its files their names, the .keep file first.
func (w *packWriter) finish() error {
	w.stop()
	if err := w.error(); err != nil {
		return err
	}
	sum, err := w.seal()
	if err != nil {
		return writeError("write pack", err)
	}
	if err := w.writeIndex(sum); err != nil {
		return err
	}
	if w.keep, err = w.d.newKeep(); err != nil {
		return err
	}
	if err := syncContent(w.keep.file, w.pack, w.idx); err != nil {
		return err
	}
	base := filepath.Join(w.d.packDir(), newPackName(w.d.hash))
	w.keep.pack = base
	// The index comes last, because Git sees the pack as soon as it has an index.
	for _, part := range []struct {
		file *atomicfile.File
		name string
	}{{w.keep.file, base + ".keep"}, {w.pack, base + ".pack"}, {w.idx, base + ".idx"}} {
		if err := part.file.Place(part.name); err != nil {
			return writeError("name pack", err)
		}
	}
	return writeError("sync pack directory", atomicfile.SyncDir(w.d.packDir()))
}

// seal writes the number of objects and the checksum into the pack.
func (w *packWriter) seal() (sum []byte, err error) {
	header := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(w.index)))
	if _, err := w.pack.WriteAt(header, 0); err != nil {
		return nil, err
	}
	h := w.d.hash.New()
	size, err := io.Copy(h, io.NewSectionReader(w.pack, 0, 1<<62))
	if err != nil {
		return nil, err
	}
	sum = h.Sum(nil)
	_, err = w.pack.WriteAt(sum, size)
	return sum, err
}

func (w *packWriter) writeIndex(sum []byte) (err error) {
	if w.idx, err = w.d.createInPack(); err != nil {
		return err
	}
	return writeError("write pack index", packidx.Write(w.idx, w.d.hash, w.index, sum))
}

// close closes the files of a finished pack.
func (w *packWriter) close() error {
	return errors.Join(w.pack.Close(), w.idx.Close())
}
