package mountpoint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const maxUses = 8 // reported uses of one process

// Busy returns the processes that use a mounted directory and are visible to this user: by
// working directory, root, open files, program or mapped files. It leaves out this
// process.
func Busy(dir string) ([]User, error) { return busy(dir, "") }

// busy is like [Busy], but reports used files by their paths below as, relative to which
// the user knows the directory.
func busy(dir, as string) ([]User, error) {
	dir, err := Resolve(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for users of %q: %w", dir, err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("looking for users of %q: %w", dir, err)
	}
	var users []User
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if uses := usesOf(filepath.Join("/proc", e.Name()), dir, as); len(uses) > 0 {
			users = append(users, User{PID: pid, Command: commandOf(pid), Uses: uses})
		}
	}
	slices.SortFunc(users, func(a, b User) int { return a.PID - b.PID })
	return users, nil
}

// usesOf returns how a process uses files below a directory. It only reads links, so it
// sends nothing to the mount.
func usesOf(proc, dir, as string) []string {
	var uses []string
	add := func(kind, path string) {
		below, ok := under(path, dir)
		if !ok || len(uses) >= maxUses {
			return
		}
		use := strings.TrimSpace(kind + " " + filepath.Join(as, below))
		if !slices.Contains(uses, use) {
			uses = append(uses, use)
		}
	}
	for link, kind := range map[string]string{"cwd": "working directory", "root": "root directory", "exe": "program"} {
		if path, err := os.Readlink(filepath.Join(proc, link)); err == nil {
			add(kind, path)
		}
	}
	if fds, err := os.ReadDir(filepath.Join(proc, "fd")); err == nil {
		for _, fd := range fds {
			if path, err := os.Readlink(filepath.Join(proc, "fd", fd.Name())); err == nil {
				add("open file", path)
			}
		}
	}
	if maps, err := os.ReadFile(filepath.Join(proc, "maps")); err == nil {
		for line := range bytes.Lines(maps) {
			if i := bytes.IndexByte(line, '/'); i >= 0 {
				add("mapped file", unescape(string(bytes.TrimRight(line[i:], "\n"))))
			}
		}
	}
	slices.Sort(uses)
	return uses
}

// under returns the part of a path below a directory.
func under(path, dir string) (string, bool) {
	rest, ok := strings.CutPrefix(path, dir)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

func commandOf(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err != nil {
			return "unknown"
		}
		return string(bytes.TrimSpace(name))
	}
	command := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
	if r := []rune(command); len(r) > 80 {
		command = string(r[:77]) + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, command)
}
