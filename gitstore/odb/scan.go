package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mtimeGrain is how soon after a change another change of a directory may leave its modification time as it is.
const mtimeGrain = 100 * time.Millisecond

// Refresh reads the list of packs again, even if the modification times of the directories are unchanged.
func (d *Database) Refresh() error {
	_, err := d.rescan(true)
	return err
}

// rescan updates the list of packs and returns its number; each changed list has a new number. It does not read
// directories again that have not changed, unless forced.
func (d *Database) rescan(force bool) (listed int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, dir := range d.dirs {
		dir = filepath.Join(dir, "pack")
		var modified time.Time // zero if it does not exist
		info, err := os.Stat(dir)
		if err == nil {
			modified = info.ModTime()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return d.listed, fmt.Errorf("look for packs: %w", err)
		}
		if !force && modified.Equal(d.scanned[i]) {
			continue
		}
		began := time.Now()
		if err := d.scanPacks(dir); err != nil {
			return d.listed, err
		}
		d.scanned[i] = time.Time{}
		if began.Sub(modified) > mtimeGrain {
			d.scanned[i] = modified
		}
	}
	return d.listed, nil
}

// scanPacks updates the packs of one directory.
func (d *Database) scanPacks(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for packs: %w", err)
	}
	files := map[string]bool{}
	for _, entry := range entries {
		files[entry.Name()] = true
		d.promisor = d.promisor || filepath.Ext(entry.Name()) == ".promisor"
	}
	there := map[string]bool{} // paths without extension of the packs whose files both exist
	for name := range files {
		if base, ok := strings.CutSuffix(name, ".idx"); ok && files[base+".pack"] {
			there[filepath.Join(dir, base)] = true
		}
	}
	kept := d.packs[:0:0]
	for _, p := range d.packs {
		if filepath.Dir(p.path) != dir || there[p.path] && !p.gone.Load() {
			delete(there, p.path)
			kept = append(kept, p)
			continue
		}
		d.listed++
		d.recent.CompareAndSwap(p, nil)
		d.bases.drop()
		if err := p.close(); err != nil {
			return err
		}
	}
	for path := range there {
		d.listed++
		kept = append(kept, newPack(path, d.hash))
	}
	d.packs = kept
	return nil
}
