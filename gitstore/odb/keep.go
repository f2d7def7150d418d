package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A pack that no ref reaches yet is kept from collections by a .keep file (see
// git-repack(1)). Ours say keepMark; each is listed, by the name of its pack, as a
// file in <common directory>/domarkx/keeps from before it appears until it is
// removed. It is locked while the process that wrote it works on its batch: one
// that can be locked is left over.
const keepMark = "git-domarkx\n"

// A keep is a .keep file that this process holds.
type keep struct {
	f      *os.File
	path   string // its name
	listed string // its name in the list
}

func (d *Database) keepsDir() string { return filepath.Join(d.common, "domarkx", "keeps") }

func (d *Database) packDir() string { return filepath.Join(d.dirs[0], "pack") }

// newKeep writes and locks the .keep file of the pack with that name, which has
// neither extension nor folder.
func (d *Database) newKeep(name string) (*keep, error) {
	if err := os.MkdirAll(d.keepsDir(), 0o700); err != nil {
		return nil, writeError("list kept pack", err)
	}
	k := &keep{path: filepath.Join(d.packDir(), name+".keep"), listed: filepath.Join(d.keepsDir(), name)}
	if err := os.WriteFile(k.listed, nil, 0o600); err != nil {
		return nil, writeError("list kept pack", err)
	}
	var err error
	for try := 0; ; try++ {
		k.f, err = d.writeKeep(k.path)
		if err == nil {
			return k, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || try == maxPruned {
			os.Remove(k.listed)
			return nil, writeError("keep pack", err)
		}
	}
}

// writeKeep writes, locks and names a .keep file. It fails with [fs.ErrNotExist]
// when a prune took it before it had its name.
func (d *Database) writeKeep(path string) (_ *os.File, err error) {
	temp, err := createUnnamed(d.dirs[0], path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			temp.discard()
		}
	}()
	if _, err := temp.f.WriteString(keepMark); err != nil {
		return nil, err
	}
	if _, err := lockFile(temp.f); err != nil {
		return nil, err
	}
	if err := temp.f.Sync(); err != nil {
		return nil, err
	}
	return temp.f, temp.name(d.dirs[0], path)
}

// release removes the .keep file: refs reach the pack, or nobody needs it.
func (k *keep) release() error {
	return errors.Join(removeIfThere(k.path), k.leave(), removeIfThere(k.listed))
}

// leave unlocks the .keep file and leaves its removal to ReleaseKeeps.
func (k *keep) leave() error { return k.f.Close() }

func removeIfThere(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writeError("release kept pack", err)
	}
	return nil
}

// ReleaseKeeps lets Git collect what was kept from a collection that has ended,
// and packs that a killed process left kept. It does nothing while a `git gc` may
// be running, and costs next to nothing when nothing is kept. Packs that a running
// process works on are left alone.
func (d *Database) ReleaseKeeps() error {
	entries, err := os.ReadDir(d.keepsDir())
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	} else if err != nil {
		return fmt.Errorf("read list of kept packs: %w", err)
	}
	if d.collecting() {
		return nil
	}
	var errs []error
	for _, entry := range entries {
		errs = append(errs, d.releaseLeft(entry.Name()))
	}
	return errors.Join(errs...)
}

// releaseLeft removes the .keep file of a pack unless somebody holds it or it is
// not ours.
func (d *Database) releaseLeft(name string) error {
	listed := filepath.Join(d.keepsDir(), name)
	f, err := os.Open(filepath.Join(d.packDir(), name+".keep"))
	if errors.Is(err, fs.ErrNotExist) {
		// Listed, not kept yet: its writer may be about to.
		if info, err := os.Stat(listed); err != nil || time.Since(info.ModTime()) < time.Hour {
			return nil
		}
		return removeIfThere(listed)
	} else if err != nil {
		return fmt.Errorf("release kept pack: %w", err)
	}
	defer f.Close()
	mark, err := io.ReadAll(io.LimitReader(f, int64(len(keepMark))+1))
	if err != nil {
		return fmt.Errorf("release kept pack: %w", err)
	}
	if !bytes.Equal(mark, []byte(keepMark)) {
		return removeIfThere(listed) // somebody else's wish
	}
	if ours, err := lockFile(f); err != nil || !ours {
		return err
	}
	return errors.Join(removeIfThere(f.Name()), removeIfThere(listed))
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

// gcExpires is the age at which Git takes a gc.pid file for a leftover.
const gcExpires = 12 * time.Hour

// collecting reports whether a `git gc` may be running: its gc.pid file names a
// process that lives, or that another machine runs. What cannot be read counts.
func (d *Database) collecting() bool {
	name := filepath.Join(d.common, "gc.pid")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil || time.Since(info.ModTime()) > gcExpires {
		return err != nil
	}
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	digits, host, _ := strings.Cut(strings.TrimSpace(string(content)), " ")
	pid, parseErr := strconv.Atoi(digits)
	here, hostErr := os.Hostname()
	if err != nil || parseErr != nil || hostErr != nil || pid <= 0 || host != here {
		return true
	}
	return alive(pid)
}
