package gitcmd

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Ignored returns which of some absolute paths git ignores, as IgnoredNames does with index for their names below the work
// tree. Paths outside of it are not ignored.
func (g *Git) Ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	if g.WorkTree == "" {
		return nil, nil
	}
	top, err := filepath.EvalSymlinks(g.WorkTree)
	if err != nil {
		return nil, err
	}
	of := map[string][]string{} // paths as passed by the caller
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
		name = filepath.ToSlash(name)
		of[name] = append(of[name], path)
	}
	names, err := g.IgnoredNames(ctx, slices.Collect(maps.Keys(of)), true)
	ignored := map[string]bool{}
	for name := range names {
		for _, path := range of[name] {
			ignored[path] = true
		}
	}
	return ignored, err
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
