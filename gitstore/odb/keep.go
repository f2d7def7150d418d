package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// keepMark is the content of our .keep files, which keep a pack from collections
// until refs reach it (see git-repack(1)). A .keep file is locked while the process
// that wrote it works on its batch: one that can be locked was left by a process that
// was killed.
const keepMark = "git-domarkx\n"

// A keep is a .keep file that this process holds. It has no name until the batch is
// written.
type keep struct {
	file newFile
	path string // its name, once it has one
}

func (d *Database) packDir() string { return filepath.Join(d.dirs[0], "pack") }

// newKeep writes and locks a .keep file, which is neither durable nor in its place yet.
func (d *Database) newKeep() (_ *keep, err error) {
	k := &keep{}
	if k.file, err = d.createInPack(); err != nil {
		return nil, err
	}
	if _, err = k.file.f.WriteString(keepMark); err == nil {
		_, err = lockFile(k.file.f)
	}
	if err != nil {
		k.file.discard()
		return nil, writeError("keep pack", err)
	}
	return k, nil
}

// release removes the .keep file: refs reach the pack, or nobody needs it.
func (k *keep) release() error {
	var err error
	if k.path != "" {
		err = removeIfThere(k.path)
	}
	k.file.discard()
	return err
}

func removeIfThere(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writeError("release kept pack", err)
	}
	return nil
}

// keepFiles returns the names of the .keep files.
func (d *Database) keepFiles() ([]string, error) {
	dir, err := os.Open(d.packDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for kept packs: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("look for kept packs: %w", err)
	}
	var keeps []string
	for _, name := range names {
		if strings.HasSuffix(name, ".keep") {
			keeps = append(keeps, filepath.Join(d.packDir(), name))
		}
	}
	return keeps, nil
}

// HasLeftKeeps reports whether there is something for [Database.ReleaseKeeps] to do.
func (d *Database) HasLeftKeeps() (bool, error) {
	keeps, err := d.keepFiles()
	for _, name := range keeps {
		f, left := openLeft(name)
		if left {
			return true, f.Close()
		}
	}
	return false, err
}

// ReleaseKeeps lets Git collect the packs that killed processes left kept. Packs that
// a running process works on stay kept. The caller makes sure that no change of refs
// to objects of a killed process is unfinished.
func (d *Database) ReleaseKeeps() error {
	keeps, err := d.keepFiles()
	errs := []error{err}
	for _, name := range keeps {
		f, left := openLeft(name)
		if !left {
			continue
		}
		// Without an index the pack was not complete, and Git does not remove it.
		base := strings.TrimSuffix(name, ".keep")
		if _, err := os.Lstat(base + ".idx"); errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, removeIfThere(base+".pack"))
		}
		errs = append(errs, removeIfThere(name), f.Close())
	}
	return errors.Join(errs...)
}

// openLeft opens and locks a .keep file of ours that no running process holds.
func openLeft(name string) (_ *os.File, left bool) {
	f, err := os.Open(name)
	if err != nil {
		return nil, false // it was released meanwhile, or is another user's
	}
	mark, err := io.ReadAll(io.LimitReader(f, int64(len(keepMark))+1))
	if err == nil && bytes.Equal(mark, []byte(keepMark)) {
		if left, err = lockFile(f); left && err == nil {
			return f, true
		}
	}
	f.Close()
	return nil, false
}

// ReleaseFetched removes the .keep files of fetches that died on this machine: git
// writes "fetch-pack PID on HOST" into them, and leaves them when it is killed, so
// that their packs would never be collected.
func (d *Database) ReleaseFetched() error {
	files, err := filepath.Glob(filepath.Join(d.packDir(), "pack-*.keep"))
	if err != nil {
		return fmt.Errorf("read list of kept packs: %w", err)
	}
	here, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("release kept packs of fetches: %w", err)
	}
	var errs []error
	for _, file := range files {
		mark, err := os.ReadFile(file)
		if err != nil {
			continue // it was released meanwhile
		}
		var pid int
		var host string
		if n, err := fmt.Sscanf(string(mark), "fetch-pack %d on %s\n", &pid, &host); n == 2 && err == nil && pid > 0 && host == here && !alive(pid) {
			errs = append(errs, removeIfThere(file))
		}
	}
	return errors.Join(errs...)
}
