package checkout

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// stagePrefix begins the name of a staging directory. A key, the process id and a random suffix follow.
const stagePrefix = ".domarkx-checkout-"

// A stage is the directory in which a checkout is prepared. If the target does not exist, the stage is beside it and is renamed
// to it. If the target is an empty directory, the stage is inside it, so that processes working in the target keep their
// directory. A live stage is locked to distinguish it from one that a killed process left. The lock also works between containers
// that share only files.
type stage struct {
	dir    string // the target
	path   string
	inside bool
	lock   *os.File // nil where directories cannot be locked; the caller of newStage closes it
}

// newStage creates a stage for dir, which must not exist, be empty or contain only the leftovers of a killed process. It removes
// these leftovers. However, if they are a complete checkout of the same version, newStage returns them and sets done; the caller
// then only calls finish. The caller must close the stage.
func newStage(dir string, v domarkx.Version) (s *stage, done bool, err error) {
	dir = filepath.Clean(dir)
	names, err := namesIn(dir)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = stageBeside(dir)
		return s, false, err
	}
	if err != nil {
		return nil, false, err
	}
	var left, moved []string
	whole := "" // a leftover of a checkout of this version
	for _, name := range names {
		switch of, _, ok := parseStage(name); {
		case !ok:
			moved = append(moved, name)
		case of == stageKey(v.ID):
			whole = name
			fallthrough
		default:
			left = append(left, name)
		}
	}
	switch {
	case len(moved) > 0 && len(left) == 0:
		return nil, false, errNotEmpty(dir)
	case len(moved) > 0: // it was complete and was being moved
		if whole == "" || !completes(filepath.Join(dir, whole), moved, v.Resources) {
			return nil, false, &engine.RefusedError{Reason: fmt.Sprintf("directory %q is not empty: it has other files beside %q, which a checkout left that was killed; empty it", dir, left[0])}
		}
		s = &stage{dir: dir, path: filepath.Join(dir, whole), inside: true}
		s.lock, err = lockStage(s.path)
		return s, true, refuseLocked(dir, err)
	}
	for _, name := range left {
		if err := removeStage(filepath.Join(dir, name)); err != nil {
			return nil, false, refuseLocked(dir, err)
		}
	}
	s = &stage{dir: dir, inside: true}
	return s, false, s.make(dir, stageKey(v.ID), 0o700)
}

func refuseLocked(dir string, err error) error {
	if errors.Is(err, atomicfile.ErrLocked) {
		return &engine.RefusedError{Reason: fmt.Sprintf("directory %q: another process is writing a workspace to it", dir)}
	}
	return err
}

// stageBeside creates a stage beside a directory that does not exist.
func stageBeside(dir string) (*stage, error) {
	if info, err := os.Lstat(dir); err == nil {
		return nil, &engine.RefusedError{Reason: fmt.Sprintf("%q is a %s that leads nowhere, expected a directory or nothing", dir, kindOf(info.Mode()))}
	}
	parent := filepath.Dir(dir)
	if err := atomicfile.MkdirAll(parent, 0o777); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(filepath.Base(dir)))
	key := fmt.Sprintf("%x", sum[:6])
	names, err := namesIn(parent)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if of, _, ok := parseStage(name); ok && of == key {
			if err := removeStage(filepath.Join(parent, name)); err != nil && !errors.Is(err, atomicfile.ErrLocked) {
				return nil, err
			}
		}
	}
	s := &stage{dir: dir}
	return s, s.make(parent, key, 0o777)
}

// make creates and locks the directory of the stage.
func (s *stage) make(parent, key string, mode fs.FileMode) error {
	for {
		s.path = filepath.Join(parent, fmt.Sprintf("%s%s-%d-%s", stagePrefix, key, os.Getpid(), strings.ToLower(rand.Text())))
		if err := os.Mkdir(s.path, mode); err != nil {
			return err
		}
		var err error
		if s.lock, err = lockDirectory(s.path); errors.Is(err, errors.ErrUnsupported) {
			return nil
		}
		if err == nil && isStill(s.lock, s.path) {
			return nil
		}
		s.lock.Close()
		if err != nil && !errors.Is(err, atomicfile.ErrLocked) && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, os.Remove(s.path))
		}
		// Another process mistook the unlocked directory for a leftover. Try again.
	}
}

func isStill(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

// lockStage locks the stage of a killed process. It returns atomicfile.ErrLocked if the process
// is alive. Where directories cannot be locked, the process id decides.
func lockStage(path string) (*os.File, error) {
	f, err := lockDirectory(path)
	if !errors.Is(err, errors.ErrUnsupported) {
		return f, err
	}
	if _, process, _ := parseStage(filepath.Base(path)); process != os.Getpid() && atomicfile.IsAlive(process) {
		return nil, atomicfile.ErrLocked
	}
	return nil, nil
}

// removeStage removes the stage of a killed process. It refuses anything that is not a directory,
// such as a symbolic link with the name of a stage.
func removeStage(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		return &engine.RefusedError{Reason: fmt.Sprintf("%q has the name of what a killed checkout leaves, and is a %s; remove it", path, kindOf(info.Mode()))}
	}
	var lock *os.File
	if err == nil {
		lock, err = lockStage(path)
	}
	if err == nil {
		err = removeRestored(path)
	}
	lock.Close()                        // it may be nil
	if errors.Is(err, fs.ErrNotExist) { // another process has removed it
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing the files that an interrupted checkout left in %q: %w", filepath.Dir(path), err)
	}
	return nil
}

func kindOf(mode fs.FileMode) string {
	if mode&fs.ModeSymlink != 0 {
		return "symbolic link"
	}
	return "file"
}

// completes reports whether a stage and the names in moved together contain exactly the resources of the version.
func completes(stage string, moved []string, resources []domarkx.ResourceVersion) bool {
	var ids []string
	for _, r := range resources {
		ids = append(ids, r.ID)
	}
	staged, err := namesIn(stage)
	names := slices.Sorted(slices.Values(append(staged, moved...)))
	return err == nil && slices.Equal(names, slices.Sorted(slices.Values(ids)))
}

// finish moves the staged files to the target and makes them durable.
func (s *stage) finish() error {
	if err := atomicfile.SyncFS(s.path); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if !s.inside {
		if err := os.Rename(s.path, s.dir); err != nil {
			return err
		}
		return atomicfile.SyncDir(filepath.Dir(s.dir))
	}
	names, err := namesIn(s.path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := moveDirectory(filepath.Join(s.path, name), filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(s.path), atomicfile.SyncDir(s.dir))
}

// moveDirectory renames a directory. Systems refuse that for a directory that its owner may not
// write, because its ".." changes, so moveDirectory makes it writable during the rename.
func moveDirectory(from, to string) error {
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

// parseStage parses the name of a stage. ok is false for other names.
func parseStage(name string) (key string, process int, ok bool) {
	rest, ok := strings.CutPrefix(name, stagePrefix)
	key, number, dash := strings.Cut(rest, "-")
	number, _, _ = strings.Cut(number, "-")
	process, err := strconv.Atoi(number)
	return key, process, ok && dash && err == nil && process > 0
}

// namesIn returns the names of the entries in a directory.
func namesIn(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.IsDir() {
		return nil, &engine.RefusedError{Reason: fmt.Sprintf("%q is no directory", dir)}
	}
	return f.Readdirnames(-1)
}
