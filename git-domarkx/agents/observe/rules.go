package observe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/plugins/gitignore"
)

// rulesOf returns the rules of gitignore(5) from outside of the work tree: core.excludesFile and
// info/exclude. It warns of a file that cannot be read, and goes on without it.
func (m *Manager) rulesOf(ctx context.Context, git *gitcmd.Git) (*gitignore.Stack, error) {
	config, err := git.Config(ctx)
	if err != nil {
		return nil, err
	}
	global, err := config.Path("core.excludesFile")
	if err != nil {
		m.warn(fmt.Sprintf("the patterns of core.excludesFile do not apply: %v", err))
	}
	if global == "" {
		base := os.Getenv("XDG_CONFIG_HOME")
		if base == "" {
			base = filepath.Join(os.Getenv("HOME"), ".config")
		}
		global = filepath.Join(base, "git", "ignore")
	}
	var rules *gitignore.Stack
	for _, path := range []string{global, filepath.Join(git.CommonDir, "info", "exclude")} {
		data, err := gitignore.ReadFile(path)
		if err != nil {
			m.warn(fmt.Sprintf("the patterns in %q do not apply: %v", path, err))
		}
		rules = rules.With(gitignore.Parse("", data))
	}
	return rules, nil
}

// warn reports a problem with a work tree once.
func (m *Manager) warn(text string) {
	const most = 1000 // texts in m.warned
	m.mu.Lock()
	known := m.warned[text]
	if len(m.warned) == most {
		clear(m.warned)
	}
	m.warned[text] = true
	m.mu.Unlock()
	if !known && m.env.Warn != nil {
		m.env.Warn(errors.New("warning: " + text))
	}
}

// trackedFiles returns a function that reports whether the index of a work tree has a path. It reads the index only when the
// first path is looked up. cache is the path of the file that keeps the list.
func trackedFiles(ctx context.Context, git *gitcmd.Git, cache string) func(path string, directory bool) bool {
	read := sync.OnceValue(func() []string { return readTracked(ctx, git, cache) })
	return func(path string, directory bool) bool {
		if directory {
			path += "/"
		}
		list := read()
		i, found := slices.BinarySearch(list, path)
		return found || directory && i < len(list) && strings.HasPrefix(list[i], path)
	}
}

// readTracked returns the list of tracked files, sorted bytewise. The cache begins with the stat of the index that it was
// made from. If git fails, no file counts as tracked.
func readTracked(ctx context.Context, git *gitcmd.Git, cache string) []string {
	stamp := stampOf(filepath.Join(git.GitDir, "index"))
	if data, err := os.ReadFile(cache); err == nil {
		if head, list, ok := strings.Cut(string(data), "\x00"); ok && stamp != "" && head == stamp {
			return splitList(list)
		}
	}
	out, err := git.Run(ctx, nil, "-C", git.WorkTree, "ls-files", "-z", "--full-name")
	if err != nil {
		return nil
	}
	_ = os.WriteFile(cache+".new", append([]byte(stamp+"\x00"), out...), 0o600) // only a cache
	_ = os.Rename(cache+".new", cache)
	return splitList(string(out))
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
}

// headOf returns the commit and the branch that are checked out, each "" if there is none.
func headOf(ctx context.Context, git *gitcmd.Git) (commit, branch string, err error) {
	ref, err := printed(git.Run(ctx, nil, "symbolic-ref", "-q", "HEAD"))
	if err != nil {
		return "", "", err
	}
	commit, err = printed(git.Run(ctx, nil, "rev-parse", "--verify", "-q", "HEAD"))
	return commit, strings.TrimPrefix(ref, "refs/heads/"), err
}

// printed returns what git printed, which is nothing with the status 1.
func printed(out []byte, err error) (string, error) {
	if failed, ok := errors.AsType[*gitcmd.Error](err); ok && failed.Code == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}
