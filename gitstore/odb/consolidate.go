package odb

import (
	"bufio"
	"bytes"
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
	"github.com/domarkx/domarkx/gitstore/odb/delta"
	"github.com/domarkx/domarkx/gitstore/odb/packfile"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
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
	if err != nil {
		return fmt.Errorf("join packs: %w", err)
	}
	if err := removeHalves(files); err != nil {
		return fmt.Errorf("join packs: %w", err)
	}
	// Git fails if a pack that its multi-pack-index lists is missing.
	if info, err := os.Stat(filepath.Join(d.packDir(), "multi-pack-index")); err == nil {
		files = slices.DeleteFunc(files, func(f packFiles) bool { return !f.written.After(info.ModTime()) })
	}
	group := smallPacks(files)
	if len(group) < joinPacks {
		return nil
	}
	if err := d.join(group); err != nil {
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
	entries, err := os.ReadDir(d.packDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []packFiles
	for _, entry := range entries { // sorted, so that the files of a pack are adjacent
		if !IsOurPack(entry.Name()) {
			continue
		}
		extension := filepath.Ext(entry.Name())
		base := filepath.Join(d.packDir(), strings.TrimSuffix(entry.Name(), extension))
		if len(all) == 0 || all[len(all)-1].base != base {
			all = append(all, packFiles{base: base})
		}
		f := &all[len(all)-1]
		f.extensions = append(f.extensions, extension)
		if extension != ".pack" {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			f.extensions = append(f.extensions, ".gone")
			continue
		}
		if err != nil {
			return nil, err
		}
		f.size, f.written = info.Size(), info.ModTime()
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

// join writes the objects of several packs into one, and then removes the old packs.
func (d *Database) join(group []packFiles) error {
	file, err := d.createInPack()
	if err != nil {
		return err
	}
	w := &packWriter{d: d, pack: file}
	joined, err := w.copyPacks(group)
	if err != nil || len(joined) < 2 {
		w.abort()
		return err
	}
	if err := w.finish(); err != nil {
		w.abort()
		return err
	}
	for _, base := range joined {
		err = errors.Join(err, removePack(base))
	}
	return errors.Join(err, w.keep.release(), w.close())
}

// copyPacks copies each object of several packs once, and returns the packs whose objects are copied. It skips damaged
// packs.
func (w *packWriter) copyPacks(group []packFiles) (joined []string, err error) {
	c := packCopier{w: w, out: bufio.NewWriterSize(w.pack.f, 256<<10), there: map[ID]int64{}}
	w.window.Read = func(b *delta.Base) []byte {
		if c.out.Flush() != nil {
			return nil
		}
		return w.readBase(b)
	}
	c.write(make([]byte, packHeader)) // the number of objects is written last
	for _, f := range group {
		p := &pack{path: f.base}
		entries, err := soundEntries(p)
		if err == nil {
			err = c.copy(p, entries)
			joined = append(joined, f.base)
		} else if errors.Is(err, domarkx.ErrCorrupt) || errors.Is(err, domarkx.ErrUnsupported) {
			err = nil
		}
		if err = errors.Join(err, p.close()); err != nil {
			return nil, err
		}
	}
	return joined, writeError("write pack", c.out.Flush())
}

// A packedEntry is the position of an object in a pack.
type packedEntry struct {
	id       ID
	from, to int64
}

// soundEntries returns the objects of a pack in the order of their offsets. It returns an error if a checksum is wrong,
// or if a delta does not follow its base in the pack.
func soundEntries(p *pack) ([]packedEntry, error) {
	content, err := p.content()
	if err != nil {
		return nil, err
	}
	x, err := p.index()
	if err != nil {
		return nil, err
	}
	entries := make([]packedEntry, x.Len())
	order := make([]int, x.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(x.Offset(a) - x.Offset(b)) })
	end := int64(len(content) - p.hash.Size())
	for k, i := range order {
		e := packedEntry{x.ID(i), x.Offset(i), end}
		if k+1 < len(order) {
			e.to = x.Offset(order[k+1])
		}
		if e.from < packHeader || e.to <= e.from || e.to > end {
			return nil, p.errEntry(e.from, "invalid offset")
		}
		sum, ok := x.CRC(i)
		if !ok || sum != crc32.ChecksumIEEE(content[e.from:e.to]) {
			return nil, p.errEntry(e.from, "its checksum differs")
		}
		head, err := p.entry(e.from)
		if err != nil {
			return nil, err
		}
		_, before := slices.BinarySearchFunc(entries[:k], head.base, func(e packedEntry, at int64) int { return int(e.from - at) })
		if head.kind == packfile.RefDelta || head.kind == packfile.OfsDelta && !before || int64(len(head.raw)-len(head.packed)) > e.to-e.from {
			return nil, p.errEntry(e.from, "its base does not precede it")
		}
		entries[k] = e
	}
	return entries, nil
}

// A packCopier appends the objects of several packs to a new one.
type packCopier struct {
	w     *packWriter
	out   *bufio.Writer // its Flush returns the first error
	at    int64
	there map[ID]int64 // offsets of the copied objects

	compared int64 // bytes of the contents that were compared with others
}

// maxCompared bounds the time of a join: bytes of content that are compared with each other.
const maxCompared = 64 << 20

func (c *packCopier) write(b []byte) {
	c.out.Write(b)
	c.at += int64(len(b))
}

func (c *packCopier) copy(p *pack, entries []packedEntry) error {
	moved := make(map[int64]int64, len(entries))
	for _, e := range entries {
		if at, ok := c.there[e.id]; ok {
			moved[e.from] = at
			continue
		}
		from, err := p.entry(e.from)
		if err != nil {
			return err
		}
		raw := from.raw[:e.to-e.from]
		if from.kind == packfile.OfsDelta {
			head := appendOffset(appendEntryHeader(nil, packfile.OfsDelta, int(from.size)), c.at-moved[from.base])
			raw = append(head, raw[len(from.raw)-len(from.packed):]...)
		}
		raw, own := c.shorter(from, raw)
		c.there[e.id], moved[e.from] = c.at, c.at
		c.w.index = append(c.w.index, packidx.Entry{ID: e.id, CRC: crc32.ChecksumIEEE(raw), Offset: uint64(c.at)})
		c.write(raw)
		if own != nil {
			own.Written.Store(true)
		}
	}
	return nil
}

// shorter stores a blob as a delta if the pack already has a similar one: the joined packs often have versions of the same file,
// and each of these packs had to be complete. It returns the entry to write and, if that is a whole blob, the base that it is for
// later deltas.
func (c *packCopier) shorter(e entry, raw []byte) ([]byte, *delta.Base) {
	if e.kind != byte(Blob) || !delta.IsBase(e.size) || c.compared+e.size > maxCompared {
		return raw, nil
	}
	if int64(len(raw)) > e.size*9/10 { // such as chunks of a binary: too many failures would end the search
		return raw, nil
	}
	content, err := decompress(e.packed, e.size)
	if err != nil {
		return raw, nil // damage stays what it is
	}
	c.compared += e.size
	d, base, own := c.w.window.PutSimilar(nil, content)
	if base == nil {
		own.Offset = c.at
		own.Packed = [2]int64{c.at + int64(len(e.raw)-len(e.packed)), c.at + int64(len(raw))}
		return raw, own
	}
	// The old packs are removed after the join, so the delta must give the same bytes with the base as it was written.
	if again, err := delta.Apply(c.w.window.Read(base), d, e.size); err != nil || !bytes.Equal(again, content) {
		return raw, nil
	}
	d = deflate(appendOffset(appendEntryHeader(nil, packfile.OfsDelta, len(d)), c.at-base.Offset), d)
	if len(d) >= len(raw) {
		return raw, nil
	}
	return d, nil
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
