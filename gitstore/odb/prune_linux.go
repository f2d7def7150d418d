package odb

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// pruning reports whether a `git prune` or `git repack` may be running, which
// unlike `git gc` leave no gc.pid file: one that listed what is reachable before a
// reference moved can still remove what the reference reaches now.
func (d *Database) pruning() bool {
	proc, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return false
	}
	for _, name := range names {
		if _, err := strconv.Atoi(name); err != nil {
			continue
		}
		dir := filepath.Join("/proc", name)
		// As a process's name is cut, "git-repack" and their like are whole.
		comm, err := os.ReadFile(dir + "/comm")
		if err != nil || !bytes.HasPrefix(comm, []byte("git")) || bytes.HasPrefix(comm, []byte("git-domarkx")) {
			continue
		}
		line, err := os.ReadFile(dir + "/cmdline")
		if err == nil && (bytes.Contains(line, []byte("prune\x00")) || bytes.Contains(line, []byte("repack\x00"))) && !d.elsewhere(dir+"/cwd") {
			return true
		}
	}
	return false
}

// elsewhere reports whether a process certainly works in another repository: the
// first one above its working directory has a common directory that is not ours.
func (d *Database) elsewhere(cwd string) bool {
	at, err := os.Readlink(cwd)
	if err != nil {
		return false
	}
	ours, err := os.Stat(d.common)
	if err != nil {
		return false
	}
	for ; at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := os.Stat(at); err != nil || os.SameFile(info, ours) {
			return false
		}
		if info, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return info.IsDir() && !os.SameFile(info, ours) // a file leads to where it says
		}
		if _, err := os.Stat(filepath.Join(at, "objects", "pack")); err == nil {
			return true // a bare one
		}
	}
	return false
}
