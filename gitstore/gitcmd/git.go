package gitcmd

import (
	"os"
	"path/filepath"
	"sync"
)

// A Git is how to call git for one repository. Its fields are set by [Discover]
// and not changed afterwards. It may be used by several goroutines at once.
type Git struct {
	GitDir       string // the repository's directory, absolute; that of the worktree for a linked one
	CommonDir    string // where references and objects are, absolute; equal to GitDir but for linked worktrees
	ObjectDir    string // where objects are written, absolute; honours GIT_OBJECT_DIRECTORY
	WorkTree     string // the top of the work tree, absolute; "" in a bare repository or inside the Git directory
	Prefix       string // where the caller stands below WorkTree: "" or "a/b/"
	Bare         bool
	ObjectFormat string // "sha1"
	RefFormat    string // "files"

	dir    string   // where the caller stands, absolute
	binary string   // the git that is run
	caller []string // the environment that the caller gave
	env    []string // the environment of git

	config        cache[*Config]
	identityCache cache[identities]
	version       cache[Version]
}

// Dir is the directory that the caller stands in: relative paths that a user
// typed are relative to it. Git runs shell aliases at the top of the work tree
// and says in GIT_PREFIX where the user was; Dir honours that.
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

// StateDir is the directory of this program's machine-local state in the
// repository. It may not exist yet; it is made with mode 0700.
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

// A cache holds the answer to a question that is asked once. Errors are not kept.
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
