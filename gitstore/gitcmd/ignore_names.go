package gitcmd

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxIgnoredName is the length from which on paths below the work tree are not checked: files
// cannot have such paths (PATH_MAX).
const maxIgnoredName = 4000

// IgnoredNames returns which of some paths below the work tree git ignores (.gitignore and
// similar). The paths are relative and slash-separated, and need not exist. With index, tracked
// files are not ignored (git-check-ignore(1), --no-index). For a path that leads through a
// symbolic link or a nested repository, or a directory whose .gitignore Git would wait for, the rules of the directory that
// contains it apply to it and to what is below it. Without a work tree nothing is ignored.
func (g *Git) IgnoredNames(ctx context.Context, names []string, index bool) (map[string]bool, error) {
	if g.WorkTree == "" {
		return nil, nil
	}
	asked := map[string][]string{} // path as passed to git → paths as passed by the caller
	dirs := map[string]bool{}
	for _, name := range names {
		for _, question := range g.reachable(name, dirs) {
			if len(question) <= maxIgnoredName {
				asked[question] = append(asked[question], name)
			}
		}
	}
	var options []string
	if !index {
		options = []string{"--no-index"}
	}
	found, err := g.checkIgnore(ctx, slices.Sorted(maps.Keys(asked)), options...)
	ignored := map[string]bool{}
	for _, question := range found {
		for _, name := range asked[question] {
			ignored[name] = true
		}
	}
	return ignored, err
}

// reachable returns the path without those directories into which git does not look, and the paths of these; dirs caches
// which they are.
func (g *Git) reachable(name string, dirs map[string]bool) (paths []string) {
	rest := name
	kept := "./"
	for {
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			return append(paths, kept+rest)
		}
		dir := kept + rest[:i]
		beyond, ok := dirs[dir]
		if !ok {
			info, err := os.Lstat(filepath.Join(g.WorkTree, filepath.FromSlash(dir)))
			beyond = err == nil && info.Mode()&os.ModeSymlink != 0
			if !beyond && err == nil && info.IsDir() {
				_, err := os.Lstat(filepath.Join(g.WorkTree, filepath.FromSlash(dir), ".git"))
				beyond = err == nil || g.waits(dir)
			}
			dirs[dir] = beyond
		}
		if beyond {
			paths = append(paths, dir)
		} else {
			kept = dir + "/"
		}
		rest = rest[i+1:]
	}
}

// waits reports whether the .gitignore of a directory is a FIFO or a device: Git waits for somebody who writes to it.
func (g *Git) waits(dir string) bool {
	info, err := os.Lstat(filepath.Join(g.WorkTree, filepath.FromSlash(dir), ".gitignore"))
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeDevice) != 0
}
