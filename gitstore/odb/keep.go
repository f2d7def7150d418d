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

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/glob"
)

// keepMark is the content of this program's .keep files, which protect a pack from garbage collection until refs reach
// its objects (git-repack(1)). The process that writes a pack holds its .keep file locked. So a file with this content
// that can be locked was left by a killed process.
const keepMark = "git-domarkx\n"

// A keep is a .keep file that this process has locked. The file has no name until the pack is written.
type keep struct {
	file *atomicfile.File
	pack string // path of its pack without the extension; "" before the files have names
}

func (d *Database) packDir() string { return filepath.Join(d.dirs[0], "pack") }

// newKeep creates and locks a .keep file. The file has no name yet and is not durable.
func (d *Database) newKeep() (_ *keep, err error) {
	k := &keep{}
	if k.file, err = d.createInPack(); err != nil {
		return nil, err
	}
	if _, err = k.file.WriteString(keepMark); err == nil {
		err = lockFile(k.file.File)
	}
	if err != nil {
		return nil, writeError("keep pack", errors.Join(err, k.file.Abort()))
	}
	return k, nil
}

// release removes the .keep file.
func (k *keep) release() error {
	var err error
	if k.pack != "" {
		err = removeIfThere(k.pack + ".keep")
	}
	_ = k.file.Abort() // it is closed, and so unlocked
	return err
}

func removeIfThere(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writeError("release kept pack", err)
	}
	return nil
}

func (d *Database) keepFiles() ([]string, error) {
	keeps, err := glob.Below(d.packDir(), "*.keep")
	if err != nil {
		err = fmt.Errorf("look for kept packs: %w", err)
	}
	return keeps, err
}

// HasLeftKeeps reports whether killed processes have left .keep files, which [Database.ReleaseKeeps] removes.
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

// ReleaseKeeps removes the .keep files that killed processes left, so that Git can collect the packs. It leaves those
// of running processes. The caller makes sure that no killed process has left an unfinished change of refs to these
// objects.
func (d *Database) ReleaseKeeps() error {
	keeps, err := d.keepFiles()
	errs := []error{err}
	for _, name := range keeps {
		f, left := openLeft(name)
		if !left {
			continue
		}
		// A pack without an index is incomplete. Git would not remove it.
		base := strings.TrimSuffix(name, ".keep")
		if _, err := os.Lstat(base + ".idx"); errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, removeIfThere(base+".pack"))
		}
		errs = append(errs, removeIfThere(name), f.Close())
	}
	return errors.Join(errs...)
}

// openLeft opens and locks a .keep file with keepMark that no running process has locked.
func openLeft(name string) (_ *os.File, left bool) {
	f, err := os.Open(name)
	if err != nil {
		return nil, false // it was removed since, or belongs to another user
	}
	mark, err := io.ReadAll(io.LimitReader(f, int64(len(keepMark))+1))
	if err == nil && bytes.Equal(mark, []byte(keepMark)) && lockFile(f) == nil {
		return f, true
	}
	f.Close()
	return nil, false
}

// ReleaseFetched removes the .keep files of git fetch processes that were killed on this machine, so that Git can
// collect their packs. Git writes "fetch-pack PID on HOST" into these files.
func (d *Database) ReleaseFetched() error {
	files, err := d.keepFiles()
	here, hostErr := os.Hostname()
	errs := []error{err, hostErr}
	for _, file := range files {
		mark, err := os.ReadFile(file)
		if err != nil {
			continue // it was removed since
		}
		var pid int
		var host string
		if n, err := fmt.Sscanf(string(mark), "fetch-pack %d on %s\n", &pid, &host); n == 2 && err == nil && pid > 0 && host == here && !atomicfile.IsAlive(pid) {
			errs = append(errs, removeIfThere(file))
		}
	}
	return errors.Join(errs...)
}
