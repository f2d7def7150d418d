package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// mark separates the answers of rev-parse, which prints unknown options unchanged. Paths may
// contain newlines.
const mark = "--domarkx-mark"

var questions = []string{
	"rev-parse", "--path-format=absolute",
	"--is-bare-repository", mark,
	"--show-object-format", mark,
	"--show-ref-format", mark, // Git before 2.44 prints it unchanged, and supports only files
	"--git-dir", mark,
	"--git-common-dir", mark,
	"--git-path", "objects", mark,
	"--show-prefix", mark,
	"--show-toplevel", // last, since it fails without a work tree
}

// ErrNoRepository is the error of [Discover] where git finds no repository.
var ErrNoRepository = errors.New("not in a Git repository")

// Anywhere returns a Git that runs in dir, for what needs no repository: [Git.Config] and
// [Git.Password]. env is as for [Discover]. Each git that it runs reads objects as they are stored and as git push sends them,
// not those that git-replace(1) has shown in their place.
func Anywhere(dir string, env []string) (*Git, error) {
	if env == nil {
		env = os.Environ()
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the repository: %w", err)
	}
	g := &Git{dir: dir, caller: env, env: append(without(env, "LC_ALL", "GIT_OPTIONAL_LOCKS", "GIT_NO_REPLACE_OBJECTS"),
		"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1")}
	if g.binary, err = findGit(env); err != nil {
		return nil, fmt.Errorf("git is not installed or not in PATH; install Git %s or newer: %w", floor, err)
	}
	return g, nil
}

// Discover finds the repository that git finds from dir. env is the environment of git, nil for
// that of this process; GIT_DIR, GIT_WORK_TREE, GIT_CONFIG_PARAMETERS and similar
// variables are honoured. It runs git once.
//
// If git finds no repository, the error is [ErrNoRepository]. If it refuses to use one (safe.directory), it is an [*Error]
// with git's message. It is [domarkx.ErrUnsupported] for repositories with another format of
// objects or references, and if git is too old.
func Discover(ctx context.Context, dir string, env []string) (*Git, error) {
	g, err := Anywhere(dir, env)
	if err != nil {
		return nil, err
	}
	out, err := g.Run(ctx, nil, questions...)
	answers := strings.Split(string(out), "\n"+mark+"\n")
	if len(answers) != 8 {
		return nil, g.refusal(ctx, err)
	}
	for i := range answers {
		answers[i] = strings.TrimSuffix(answers[i], "\n")
	}
	g.Bare = answers[0] == "true"
	g.GitDir, g.CommonDir, g.ObjectDir = answers[3], answers[4], answers[5]
	g.Prefix = answers[6]
	if err == nil && !g.Bare {
		g.WorkTree = answers[7]
	}
	g.recent = !strings.HasPrefix(answers[2], "--")
	if err := g.supported(answers[1], answers[2]); err != nil {
		return nil, err
	}
	g.pin()
	return g, nil
}

// pin makes later calls of git use this repository without searching for it.
func (g *Git) pin() {
	g.env = append(without(g.env, "GIT_DIR", "GIT_WORK_TREE"), "GIT_DIR="+g.GitDir)
	if g.WorkTree != "" {
		g.env = append(g.env, "GIT_WORK_TREE="+g.WorkTree)
	}
}

// supported sets what depends on the formats of objects and references that git names, and refuses others before
// anything is written: objects of another hash function would corrupt the repository without any error.
func (g *Git) supported(objects, refs string) error {
	if !filepath.IsAbs(g.GitDir) || !filepath.IsAbs(g.CommonDir) || !filepath.IsAbs(g.ObjectDir) {
		return fmt.Errorf("this git does not print absolute paths; install Git %s or newer: %w", floor, domarkx.ErrUnsupported)
	}
	var err error
	if g.Hash, err = oid.ParseHash(objects); err != nil {
		return fmt.Errorf("the repository %q names its objects by the %w; use a repository with sha1 or sha256", g.GitDir, err)
	}
	switch g.Reftable = refs == "reftable"; {
	case g.Reftable:
		return nil
	case refs == "files":
		return g.filesAgree()
	case !strings.HasPrefix(refs, "--"):
		return fmt.Errorf("the repository %q keeps its references as %q: %w; convert it (git refs migrate --ref-format=files)", g.GitDir, refs, domarkx.ErrUnsupported)
	case isDir(filepath.Join(g.CommonDir, "reftable")):
		return needsGit(g.GitDir, "the reftable backend", Version{2, 45})
	}
	return g.filesAgree()
}

// needsGit is the error for a repository that git is too old for.
func needsGit(where, what string, version Version) error {
	return fmt.Errorf("the repository %q uses %s: %w by this git; install Git %s or newer", where, what, domarkx.ErrUnsupported, version)
}

// refusals are what git says of repositories that it cannot read, and what that means. Without that, git is too old for the
// reftable backend.
var refusals = []struct {
	words        []string
	what, advice string
}{
	{[]string{"v1-only extension"}, "the repository's configuration contradicts itself", "set core.repositoryFormatVersion to 1 there"},
	{[]string{"invalid value for 'extensions."}, "the repository's configuration names a format that this git does not know", "correct it, or install a newer Git"},
	{words: []string{"refstorage", "reftable"}},
	{[]string{"objectformat", "hash algorithm"}, "this git cannot read the hash function of the repository", "install a newer Git"},
	{[]string{"repository extension", "repo version"}, "this git cannot read the repository", "install a newer Git"},
}

// refusal explains why git did not answer. Git reports an unreadable repository only as
// text; no other code parses such messages.
func (g *Git) refusal(ctx context.Context, err error) error {
	var failed *Error
	if !errors.As(err, &failed) {
		if old := g.RequireVersion(ctx); old != nil {
			return old
		}
		return fmt.Errorf("finding the repository: git rev-parse did not answer all questions")
	}
	if errors.Is(err, exec.ErrNotFound) || failed.Code < 0 {
		return err
	}
	words := strings.ToLower(failed.Stderr)
	if strings.Contains(words, "not a git repository (or any") {
		return fmt.Errorf("%q is %w; go into one, or make one here: git init", g.dir, ErrNoRepository)
	}
	for _, r := range refusals {
		if slices.ContainsFunc(r.words, func(word string) bool { return strings.Contains(words, word) }) {
			if r.what == "" {
				return needsGit(g.dir, "the reftable backend", Version{2, 45})
			}
			return fmt.Errorf("%w: %s (%w); %s", domarkx.ErrUnsupported, r.what, err, r.advice)
		}
	}
	if old := g.RequireVersion(ctx); old != nil {
		return old
	}
	return err
}

// WorkTrees returns the top directories of all work trees of the repository, as git-worktree(1)
// lists them, the main one first. Some may not exist any more.
func (g *Git) WorkTrees(ctx context.Context) ([]string, error) {
	out, err := g.Run(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var tops []string
	for record := range bytes.SplitSeq(out, []byte("\x00\x00")) {
		top := ""
		for line := range bytes.SplitSeq(record, []byte{0}) {
			if path, ok := bytes.CutPrefix(line, []byte("worktree ")); ok {
				top = string(path)
			}
			if string(line) == "bare" {
				top = ""
			}
		}
		if top == g.CommonDir {
			if top, err = g.mainWorkTree(ctx); err != nil {
				return nil, err
			}
		}
		if top != "" {
			tops = append(tops, top)
		}
	}
	return tops, nil
}

// mainWorkTree returns the main work tree if the Git directory is not in it, as for submodules:
// git worktree list prints the Git directory then. It returns "" if nothing says where the tree is.
func (g *Git) mainWorkTree(ctx context.Context) (string, error) {
	if g.GitDir == g.CommonDir {
		return g.WorkTree, nil
	}
	config, err := g.Config(ctx)
	if err != nil {
		return "", err
	}
	top, _ := config.Get("core.worktree")
	if top != "" && !filepath.IsAbs(top) {
		top = filepath.Join(g.CommonDir, top)
	}
	return top, nil
}
