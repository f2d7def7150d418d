package engine

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// stagePrefix begins the name of a folder in which a checkout is made until it is whole.
// Behind it are what is written, and the process that writes.
const stagePrefix = ".domarkx-checkout-"

// A stage is where a checkout is made: beside a folder that is not there yet, which it
// becomes at once, or in one that is there and stays what it is to those who stand in
// it.
type stage struct {
	dir    string // in which it ends
	path   string
	inside bool
}

// newStage makes a stage for a folder, which is empty or not there but for what a killed
// process left. That goes, unless it was whole and of the same version: then done is
// true and the folder is what that process wanted.
func newStage(dir, version string, resources []string, remove func(dir string) error) (s *stage, done bool, err error) {
	dir = filepath.Clean(dir)
	names, err := namesIn(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return stageBeside(dir, remove)
	}
	if err != nil {
		return nil, false, err
	}
	s = &stage{dir: dir, inside: true}
	var left string
	var moved []string
	for _, name := range names {
		switch of, process, ok := parseStage(name); {
		case ok && inUse(process):
			return nil, false, &RefusedError{fmt.Sprintf("folder %q: another process, %d, is writing a workspace to it", dir, process)}
		case ok && (left == "" || of == stageKey(version)):
			left = name
		case !ok:
			moved = append(moved, name)
		}
	}
	if left != "" && len(moved) > 0 { // it was whole, and on its way out
		if of, _, _ := parseStage(left); of != stageKey(version) || !s.completes(left, moved, resources) {
			return nil, false, &RefusedError{fmt.Sprintf("folder %q is not empty: it has other files beside %q, which a checkout left that was killed; empty it", dir, left)}
		}
		s.path = filepath.Join(dir, left)
		return s, true, nil
	}
	if len(moved) > 0 {
		return nil, false, errNotEmpty(dir)
	}
	for _, name := range names {
		if err := removeStage(dir, name, remove); err != nil {
			return nil, false, err
		}
	}
	s.path = filepath.Join(dir, stageName(stageKey(version)))
	return s, false, os.Mkdir(s.path, 0o700)
}

// stageBeside makes a stage beside a folder that is not there.
func stageBeside(dir string, remove func(dir string) error) (*stage, bool, error) {
	if info, err := os.Lstat(dir); err == nil {
		return nil, false, &RefusedError{fmt.Sprintf("%q is a %s that leads nowhere, expected a folder or nothing", dir, kindOf(info.Mode()))}
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return nil, false, err
	}
	sum := sha256.Sum256([]byte(filepath.Base(dir)))
	key := fmt.Sprintf("%x", sum[:6])
	names, err := namesIn(parent)
	if err != nil {
		return nil, false, err
	}
	for _, name := range names {
		if of, process, ok := parseStage(name); ok && of == key && !inUse(process) {
			if err := removeStage(parent, name, remove); err != nil {
				return nil, false, err
			}
		}
	}
	s := &stage{dir: dir, path: filepath.Join(parent, stageName(key))}
	return s, false, os.Mkdir(s.path, 0o777)
}

// inUse reports whether another process writes to its stage.
func inUse(process int) bool { return process != os.Getpid() && isAlive(process) }

// removeStage removes what a killed process left. What only has the name of a stage, such
// as a symbolic link that somebody put there, is no stage.
func removeStage(dir, name string, remove func(dir string) error) error {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		return &RefusedError{fmt.Sprintf("%q has the name of what a killed checkout leaves, and is a %s; remove it", path, kindOf(info.Mode()))}
	}
	if err == nil {
		err = remove(path)
	}
	if err != nil {
		return fmt.Errorf("removing what a killed checkout left in %q: %w", dir, err)
	}
	return nil
}

func kindOf(mode fs.FileMode) string {
	if mode&fs.ModeSymlink != 0 {
		return "symbolic link"
	}
	return "file"
}

// completes reports whether what is in a stage and what is beside it are together the
// resources of the version.
func (s *stage) completes(left string, moved, resources []string) bool {
	staged, err := namesIn(filepath.Join(s.dir, left))
	if err != nil || len(staged)+len(moved) != len(resources) {
		return false
	}
	there := map[string]bool{}
	for _, name := range append(staged, moved...) {
		there[name] = true
	}
	for _, id := range resources {
		if !there[id] {
			return false
		}
	}
	return true
}

// finish makes the folder what is staged.
func (s *stage) finish() error {
	if !s.inside {
		return os.Rename(s.path, s.dir)
	}
	names, err := namesIn(s.path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := moveFolder(filepath.Join(s.path, name), filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	return os.Remove(s.path)
}

// moveFolder renames a folder, also one that its owner must not write, which systems
// refuse since its ".." changes.
func moveFolder(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	info, serr := os.Lstat(from)
	if serr != nil {
		return err
	}
	if serr := os.Chmod(from, 0o700); serr != nil {
		return err
	}
	err = os.Rename(from, to)
	if err != nil {
		to = from
	}
	return errors.Join(err, os.Chmod(to, info.Mode()))
}

func stageKey(version string) string { return version[:min(12, len(version))] }

func stageName(key string) string { return stagePrefix + key + "-" + strconv.Itoa(os.Getpid()) }

// parseStage reads the name of a stage.
func parseStage(name string) (key string, process int, ok bool) {
	rest, ok := strings.CutPrefix(name, stagePrefix)
	key, number, dash := strings.Cut(rest, "-")
	process, err := strconv.Atoi(number)
	return key, process, ok && dash && err == nil && process > 0
}

// namesIn returns the names in a folder.
func namesIn(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.IsDir() {
		return nil, &RefusedError{fmt.Sprintf("%q is no folder", dir)}
	}
	return f.Readdirnames(-1)
}
