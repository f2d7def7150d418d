package gitcmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// maxIgnoredName is the length from which on a path below the work tree is not
// asked about: no file can have it (PATH_MAX).
const maxIgnoredName = 4000

// IgnoredNames tells which of some paths below the work tree git ignores (.gitignore
// and its like). They are relative and slash-separated, and need not be there. With
// index, what is tracked is not ignored (git-check-ignore(1), --no-index). Where one
// leads through a symbolic link or, with index, a submodule, the rules that hold
// beside that count for what comes behind it. Without a work tree nothing is
// ignored.
func (g *Git) IgnoredNames(ctx context.Context, names []string, index bool) (map[string]bool, error) {
	ignored := map[string]bool{}
	if g.WorkTree == "" || len(names) == 0 {
		return ignored, nil
	}
	asked := map[string][]string{} // as git is asked -> as the caller does
	var questions []string
	dirs := map[string]bool{}
	for _, name := range names {
		question := "./" + g.reachable(name, dirs)
		if len(question) > maxIgnoredName {
			continue
		}
		if asked[question] == nil {
			questions = append(questions, question)
		}
		asked[question] = append(asked[question], name)
	}
	options := []string{"--no-index"}
	if index {
		options = nil
	}
	found, err := g.checkIgnore(ctx, questions, options...)
	if err != nil {
		return nil, err
	}
	for _, question := range found {
		for _, name := range asked[question] {
			ignored[name] = true
		}
	}
	return ignored, nil
}

// reachable returns the path without those of its folders that git does not look
// into. dirs remembers which these are.
func (g *Git) reachable(name string, dirs map[string]bool) string {
	rest := name
	kept := ""
	for {
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			return kept + rest
		}
		dir := kept + rest[:i]
		beyond, ok := dirs[dir]
		if !ok {
			info, err := os.Lstat(filepath.Join(g.WorkTree, filepath.FromSlash(dir)))
			beyond = err == nil && info.Mode()&os.ModeSymlink != 0
			if !beyond && err == nil && info.IsDir() {
				_, err := os.Lstat(filepath.Join(g.WorkTree, filepath.FromSlash(dir), ".git"))
				beyond = err == nil
			}
			dirs[dir] = beyond
		}
		if !beyond {
			kept = dir + "/"
		}
		rest = rest[i+1:]
	}
}
