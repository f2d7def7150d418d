package gitcmd

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/domarkx/domarkx/gitstore/oid"
)

// A Git runs git for one repository. [Discover] sets its fields, which must not be changed. It
// may be used by several goroutines at once.
type Git struct {
	GitDir    string // the repository's directory, absolute; for a linked worktree its own one
	CommonDir string // directory of references and objects, absolute; differs from GitDir in linked worktrees
	ObjectDir string // directory to which objects are written, absolute; honours GIT_OBJECT_DIRECTORY
	WorkTree  string // top of the work tree, absolute; "" in a bare repository or inside the Git directory
	Prefix    string // the caller's directory relative to WorkTree: "" or "a/b/"
	Bare      bool
	Hash      oid.Hash // by which the repository names its objects
	Reftable  bool     // whether references are in the reftable backend, not in files

	dir    string   // the caller's directory, absolute
	binary string   // path of git
	caller []string // the caller's environment
	env    []string // the environment of git
	recent bool     // whether git is known to be 2.44 or newer

	known struct { // answers of git
		config     cache[*Config]
		identities cache[identities]
		version    cache[Version]
	}
}

// Dir returns the directory to which paths from the user are relative. Git runs shell aliases
// at the top of the work tree and sets GIT_PREFIX to the user's directory; Dir honours that.
func (g *Git) Dir() string {
	prefix, _ := lookup(g.caller, "GIT_PREFIX")
	if prefix == "" || g.WorkTree == "" || !filepath.IsLocal(prefix) || !sameFile(g.dir, g.WorkTree) {
		return g.dir
	}
	if dir := filepath.Join(g.WorkTree, prefix); isDir(dir) {
		return dir
	}
	return g.dir
}

// StateDir returns the directory of this program's machine-local state in the repository. It
// may not exist; it is created with mode 0700.
func (g *Git) StateDir() string { return filepath.Join(g.CommonDir, "domarkx") }

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// A cache stores the result of a function. Errors are not stored.
type cache[T any] struct {
	mu    sync.Mutex
	known bool
	value T
}

func (c *cache[T]) get(ask func() (T, error)) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known {
		return c.value, nil
	}
	value, err := ask()
	if err == nil {
		c.value, c.known = value, true
	}
	return value, err
}
