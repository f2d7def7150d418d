package odb

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// pruning reports whether a `git prune` or `git repack` may be running, which
// unlike `git gc` leave no gc.pid file: one that listed what is reachable before a
// reference moved can still remove what the reference reaches now. In which repository
// it runs is not asked.
func pruning() bool {
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
		if err == nil && (bytes.Contains(line, []byte("prune\x00")) || bytes.Contains(line, []byte("repack\x00"))) {
			return true
		}
	}
	return false
}
