package odb

import (
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// finish makes the pack durable and gives it its name, with a .keep file that was
// there first.
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
	if err := parallel(2, func(i int) error {
		return writeError("sync pack", []newFile{w.pack, w.idx}[i].f.Sync())
	}); err != nil {
		return err
	}
	// The name is of this batch alone: of two processes that write the same objects
	// neither may release or replace the other's pack.
	salt := append(sum[:], rand.Text()...)
	name := fmt.Sprintf("pack-%x", sha1.Sum(salt))
	w.base = filepath.Join(w.d.packDir(), name)
	if w.keep, err = w.d.newKeep(name); err != nil {
		return err
	}
	return w.place()
}

// seal writes the number of objects and the checksum.
func (w *packWriter) seal() (sum [20]byte, err error) {
	header := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), w.objects)
	if _, err := w.pack.f.WriteAt(header, 0); err != nil {
		return sum, err
	}
	h := sha1.New()
	size, err := io.Copy(h, io.NewSectionReader(w.pack.f, 0, 1<<62))
	if err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	_, err = w.pack.f.WriteAt(sum[:], size)
	return sum, err
}

func (w *packWriter) writeIndex(sum [20]byte) (err error) {
	if w.idx, err = w.d.createInPack("tmp_idx_"); err != nil {
		return err
	}
	return writeError("write pack index", writePackIndex(w.idx.f, w.index, sum))
}

// place gives the pack and then its index, which makes it visible, their names. A
// file that a `git prune` took before is written again from what is still open;
// when both are there already, place does nothing.
func (w *packWriter) place() error {
	done := false
	for _, part := range []struct {
		file *newFile
		name string
	}{{&w.pack, w.base + ".pack"}, {&w.idx, w.base + ".idx"}} {
		if sameFile(part.file.f, part.name) {
			continue
		}
		done = true
		if err := part.file.place(w.d.dirs[0], part.name); err != nil {
			return writeError("name pack", err)
		}
	}
	if !done {
		return nil
	}
	return writeError("sync pack directory", syncDir(w.d.packDir()))
}

func sameFile(f *os.File, name string) bool {
	there, err := os.Stat(name)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && os.SameFile(info, there)
}

// close closes the files of a pack that is in place.
func (w *packWriter) close() error {
	return errors.Join(w.pack.close(), w.idx.close())
}
