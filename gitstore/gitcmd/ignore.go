package gitcmd

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Ignored returns which of some absolute paths git ignores (.gitignore and similar). Paths
// outside the work tree, behind a symbolic link or inside a submodule are not ignored; without
// a work tree none are.
func (g *Git) Ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	if g.WorkTree == "" {
		return nil, nil
	}
	top, err := filepath.EvalSymlinks(g.WorkTree)
	if err != nil {
		return nil, err
	}
	asked := map[string][]string{} // path as passed to git → paths as passed by the caller
	dirs := map[string]string{}
	for _, path := range paths {
		dir, ok := dirs[filepath.Dir(path)]
		if !ok {
			if dir, err = filepath.EvalSymlinks(filepath.Dir(path)); err != nil {
				dir = ""
			}
			dirs[filepath.Dir(path)] = dir
		}
		name, err := filepath.Rel(top, filepath.Join(dir, filepath.Base(path)))
		if dir == "" || err != nil || name == "." || !filepath.IsLocal(name) {
			continue
		}
		name = "./" + filepath.ToSlash(name)
		asked[name] = append(asked[name], path)
	}
	return g.askers(ctx, asked)
}

// askers returns the askers of those names, as passed to git check-ignore, that git ignores.
func (g *Git) askers(ctx context.Context, asked map[string][]string, options ...string) (map[string]bool, error) {
	found, err := g.checkIgnore(ctx, slices.Sorted(maps.Keys(asked)), options...)
	if err != nil {
		return nil, err
	}
	ignored := map[string]bool{}
	for _, name := range found {
		for _, asker := range asked[name] {
			ignored[asker] = true
		}
	}
	return ignored, nil
}

// plainPaths are settings with which check-ignore fails.
var plainPaths = []string{"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"}

// checkIgnore passes names below the work tree to git check-ignore. They are prefixed with "./",
// so that none has a special meaning. A name that git refuses makes the whole call fail; then
// each half is tried.
func (g *Git) checkIgnore(ctx context.Context, names []string, options ...string) ([]string, error) {
	if len(names) == 0 || g.waits("") {
		return nil, nil
	}
	out, err := g.Do(ctx, Command{
		Args:  append([]string{"-C", g.WorkTree, "check-ignore", "-z", "--stdin"}, options...),
		Stdin: strings.NewReader(strings.Join(names, "\x00") + "\x00"),
		Env:   plainPaths,
	})
	var failed *Error
	switch {
	case err == nil:
		return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
	case errors.As(err, &failed) && failed.Code == 1:
		return nil, nil
	case failed == nil || failed.Code != 128 || ctx.Err() != nil:
		return nil, err
	case len(names) == 1:
		return nil, nil
	}
	first, err := g.checkIgnore(ctx, names[:len(names)/2], options...)
	if err != nil {
		return nil, err
	}
	second, err := g.checkIgnore(ctx, names[len(names)/2:], options...)
	return append(first, second...), err
}
