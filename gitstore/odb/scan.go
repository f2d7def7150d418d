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

// A scan is the list of packs in a pack directory, with the state of the directory when it was read.
type scan struct {
	modified time.Time // modification time of the directory; zero if it did not exist
	at       time.Time
}

// mtimeGrain is how soon after a change another change of a directory may leave its modification time as it is.
const mtimeGrain = 100 * time.Millisecond

// current reports whether the directory certainly has not changed since the scan.
func (s scan) current(modified time.Time) bool {
	return !s.at.IsZero() && s.modified.Equal(modified) && s.at.Sub(modified) > mtimeGrain
}

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
	changed := false
	defer func() {
		if changed {
			d.listed++
			listed = d.listed
		}
	}()
	listed = d.listed
	if d.scans == nil {
		d.scans = make([]scan, len(d.dirs))
		changed = true
	}
	for i, dir := range d.dirs {
		dir = filepath.Join(dir, "pack")
		var modified time.Time
		info, err := os.Stat(dir)
		if err == nil {
			modified = info.ModTime()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return listed, fmt.Errorf("look for packs: %w", err)
		}
		if !force && d.scans[i].current(modified) {
			continue
		}
		now := time.Now()
		dirChanged, err := d.scanPacks(dir)
		changed = changed || dirChanged
		if err != nil {
			return listed, err
		}
		d.scans[i] = scan{modified, now}
	}
	return listed, nil
}

// scanPacks updates the packs of one directory.
func (d *Database) scanPacks(dir string) (changed bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("look for packs: %w", err)
	}
	there := make(map[string]bool) // path without extension → whether both files exist
	packs := make(map[string]bool)
	for _, entry := range entries {
		name := entry.Name()
		switch filepath.Ext(name) {
		case ".pack":
			packs[strings.TrimSuffix(name, ".pack")] = true
		case ".promisor":
			d.promisor = true
		}
	}
	for _, entry := range entries {
		if base, ok := strings.CutSuffix(entry.Name(), ".idx"); ok && packs[base] {
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
		changed = true
		d.recent.CompareAndSwap(p, nil)
		d.bases.drop(p)
		if err := p.close(); err != nil {
			return changed, err
		}
	}
	for path := range there {
		changed = true
		kept = append(kept, &pack{path: path, hash: d.hash})
	}
	d.packs = kept
	return changed, nil
}
