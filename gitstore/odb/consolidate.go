package odb

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/glob"
	"github.com/domarkx/domarkx/gitstore/odb/packfile"
)

// joinPacks is how many packs of a size class are joined. Each batch creates a pack; too many packs would make reading
// slow and start `git gc --auto`. Each object is copied at most once per size class.
const joinPacks = 16

// sizeClasses are the upper bounds of the size classes in bytes. Larger packs are left to `git gc`.
var sizeClasses = [...]int64{32 << 10, 512 << 10, 8 << 20}

// Consolidate joins small packs of this package if there are many, and removes the files of a killed Consolidate. The
// caller makes sure that refs reach all objects in packs without a .keep file, as they do after [Batch.Settle], and
// that no other process consolidates at the same time.
//
// The joined pack is durable and has a .keep file before the first old pack is removed. So each object is always in a
// pack that no collection removes.
func (d *Database) Consolidate() error {
	files, err := d.ourPackFiles()
	if err == nil {
		err = removeHalves(files)
	}
	// Git fails if a pack that its multi-pack-index lists is missing.
	if info, err := os.Stat(filepath.Join(d.packDir(), "multi-pack-index")); err == nil {
		files = slices.DeleteFunc(files, func(f packFiles) bool { return !f.written.After(info.ModTime()) })
	}
	if group := smallPacks(files); err == nil && len(group) >= joinPacks {
		err = d.join(group)
	}
	if err != nil {
		return fmt.Errorf("join packs: %w", err)
	}
	return nil
}

// packFiles are the files of one pack.
type packFiles struct {
	base       string // path without the extension
	size       int64  // of the .pack file in bytes
	written    time.Time
	extensions []string
}

func (f *packFiles) has(extension string) bool { return slices.Contains(f.extensions, extension) }

// ourPackFiles returns the packs of this package, including incomplete ones, sorted by name.
func (d *Database) ourPackFiles() ([]packFiles, error) {
	paths, err := glob.Below(d.packDir(), "pack-"+ourMark+"*")
	if err != nil {
		return nil, err
	}
	var all []packFiles
	for _, path := range paths { // sorted, so that the files of a pack are adjacent
		extension := filepath.Ext(path)
		base := strings.TrimSuffix(path, extension)
		if len(all) == 0 || all[len(all)-1].base != base {
			all = append(all, packFiles{base: base})
		}
		f := &all[len(all)-1]
		f.extensions = append(f.extensions, extension)
		if extension == ".pack" {
			info, err := os.Stat(path)
			if err != nil { // another process has removed it
				f.extensions = append(f.extensions, ".gone")
				continue
			}
			f.size, f.written = info.Size(), info.ModTime()
		}
	}
	return all, nil
}

// removeHalves removes packs without an index and indexes without a pack, which remain if the process is killed or the
// power fails while packs are removed.
func removeHalves(files []packFiles) error {
	for _, f := range files {
		if !f.has(".keep") && f.has(".pack") != f.has(".idx") && isHalf(f.base) {
			if err := removePack(f.base); err != nil {
				return err
			}
		}
	}
	return nil
}

// isHalf reports whether a pack is incomplete and no process is writing it. A writer creates the .keep file first and
// removes it last.
func isHalf(base string) bool {
	missing := func(extension string) bool {
		_, err := os.Lstat(base + extension)
		return errors.Is(err, fs.ErrNotExist)
	}
	return missing(".keep") && (missing(".pack") || missing(".idx"))
}

// smallPacks returns the packs of the first size class that has enough of them to join. It leaves out packs with
// additional files, which another program has made and uses.
func smallPacks(files []packFiles) []packFiles {
	least := int64(0)
	for _, most := range sizeClasses {
		var class []packFiles
		for _, f := range files {
			if f.size >= least && f.size < most && len(f.extensions) == 2 && f.has(".pack") && f.has(".idx") {
				class = append(class, f)
			}
		}
		if len(class) >= joinPacks {
			return class
		}
		least = most
	}
	return nil
}

// join writes the objects of several packs into one, and then removes the old packs. It leaves damaged ones.
func (d *Database) join(group []packFiles) error {
	b := d.Begin()
	defer b.Abort()
	var joined []string
	for _, f := range group {
		err := b.copyPack(f.base)
		if err == nil {
			joined = append(joined, f.base)
		} else if !errors.Is(err, domarkx.ErrCorrupt) && !errors.Is(err, domarkx.ErrUnsupported) {
			return err
		}
	}
	if len(joined) < 2 {
		return nil
	}
	err := b.Sync()
	if err != nil {
		return err
	}
	for _, base := range joined {
		err = errors.Join(err, removePack(base))
	}
	return errors.Join(err, b.Settle())
}

// copyPack adds the objects of a pack in their order, so that deltas find their bases. Whole blobs are compared with each other,
// too: the joined packs often have versions of the same file, and each of these packs had to be complete.
func (b *Batch) copyPack(base string) error {
	p := newPack(base, b.d.hash)
	defer p.close()
	x, err := p.index()
	if err != nil {
		return err
	}
	content, err := p.content()
	if err != nil {
		return err
	}
	order := make([]int, x.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int { return cmp.Compare(x.Offset(i), x.Offset(k)) })
	for n, i := range order {
		from, to := x.Offset(i), int64(len(content)-p.hash.Size())
		if n+1 < len(order) {
			to = x.Offset(order[n+1])
		}
		e, err := p.entry(from)
		if err != nil {
			return err
		}
		if sum, ok := x.CRC(i); !ok || to > int64(len(content)) || sum != crc32.ChecksumIEEE(content[from:to]) {
			return p.errEntry(from, "its checksum differs")
		}
		t, data, err := b.d.Read(x.ID(i))
		if err != nil {
			return err
		}
		hint := alone
		switch {
		case e.kind == packfile.OfsDelta || e.kind == packfile.RefDelta:
			hint = repeats
		case t == Blob && to-from <= e.size*9/10: // not chunks of a binary, which would take the place of what repeats
			hint = repeated
		}
		if _, err := b.add(object{t: t, data: data, repeats: hint}); err != nil {
			return err
		}
	}
	return nil
}

// removePack removes a pack as Git does. The index comes first: Git does not see a pack without one.
func removePack(base string) error {
	for _, extension := range []string{".idx", ".pack"} {
		if err := os.Remove(base + extension); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return writeError("remove pack", err)
		}
	}
	return nil
}
