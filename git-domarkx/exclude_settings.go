package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// excludedBy is the comment above each line that install adds to .git/info/exclude, and that uninstall removes with it.
const excludedBy = "# git domarkx agent install"

// excludeSettings keeps the settings that install made for this machine only out of git status: those files in the work trees that Git
// neither tracks nor ignores get a line in .git/info/exclude (gitignore(5)).
func (inv *invocation) excludeSettings(place agents.Place, rows []settingsRow) error {
	return inv.editExcludes(func(lines []string) ([]string, error) {
		for _, row := range rows {
			pattern, ok := patternIn(place.Trees, row.File)
			if !ok || slices.Contains(lines, pattern) {
				continue
			}
			there, err := gitcmd.Discover(inv.ctx, filepath.Dir(row.File), nil) // in another work tree of the repository, perhaps
			if err != nil {
				return nil, err
			}
			untracked, err := there.Run(inv.ctx, nil, "ls-files", "--others", "--exclude-standard", "--", row.File)
			if err == nil && len(untracked) > 0 { // an error is that of a path beyond a symbolic link
				lines = append(lines, excludedBy, pattern)
			}
		}
		return lines, nil
	})
}

// includeSettings undoes excludeSettings for files that are gone.
func (inv *invocation) includeSettings(place agents.Place, rows []settingsRow) error {
	return inv.editExcludes(func(lines []string) ([]string, error) {
		for _, row := range rows {
			pattern, ok := patternIn(place.Trees, row.File)
			if _, err := os.Lstat(row.File); !ok || !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if i := slices.Index(lines, pattern); i > 0 && lines[i-1] == excludedBy {
				lines = slices.Delete(lines, i-1, i+1)
			}
		}
		return lines, nil
	})
}

// patternIn returns the pattern that is for one file in any of the work trees.
func patternIn(trees []string, file string) (pattern string, ok bool) {
	for _, tree := range trees {
		if rel, err := filepath.Rel(tree, file); err == nil && filepath.IsLocal(rel) {
			return "/" + filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// editExcludes replaces the lines of .git/info/exclude if edit changes them.
func (inv *invocation) editExcludes(edit func(lines []string) ([]string, error)) error {
	git, err := inv.git()
	if err != nil {
		return err
	}
	f, err := hooks.ReadFile(filepath.Join(git.CommonDir, "info", "exclude"))
	if err != nil {
		return err
	}
	var lines []string
	if text := strings.TrimSuffix(string(f.Data), "\n"); text != "" {
		lines = strings.Split(text, "\n")
	}
	count := len(lines)
	if lines, err = edit(lines); err != nil || len(lines) == count {
		return err
	}
	if f.Missing { // not only for this user, as settings are
		f.Mode = 0o644
		if err := atomicfile.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
			return err
		}
	}
	return f.Replace([]byte(strings.Join(append(lines, ""), "\n")))
}
