package gitrepository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// refuse returns the error for a repository on which git must not run.
func refuse(format string, args ...any) error {
	return refusal("git is not run on this repository: "+format, args...)
}

// elsewhere lists the files that make Git read or write another directory, with the action that
// the user has to take.
var elsewhere = [][2]string{
	{"commondir", "remove it"},
	{"objects/info/alternates", "run \"git repack -a -d\", then remove it"},
	{"objects/info/http-alternates", "run \"git repack -a -d\", then remove it"},
}

// configs are the config files. The second one, of a sparse checkout, may be missing.
var configs = []string{"config", "config.worktree"}

// unread lists directories of .git that inspectFiles skips: the tools read no file in them, or only
// files named by their content.
var unread = []string{"hooks", "modules", "worktrees", "lfs", "annex"}

// inspectFiles rejects a Git directory through which Git would reach other files.
func inspectFiles(gitDir string) error {
	info, err := os.Lstat(gitDir)
	if errors.Is(err, fs.ErrNotExist) {
		return &domarkx.ToolError{Code: domarkx.CodeFailed, Message: "the repository is gone: .git is missing"}
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return refuse(".git is not a directory; a submodule or linked work tree has its repository elsewhere, and versions would not contain it")
	}
	for _, name := range []string{"HEAD", "config"} {
		if info, err := os.Lstat(filepath.Join(gitDir, name)); err != nil || !info.Mode().IsRegular() {
			return refuse(".git/%s is not a regular file", name)
		}
	}
	for _, e := range elsewhere {
		if _, err := os.Lstat(filepath.Join(gitDir, e[0])); !errors.Is(err, fs.ErrNotExist) {
			return refuse(".git/%s leads elsewhere; %s", e[0], e[1])
		}
	}
	return filepath.WalkDir(gitDir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		at, err := filepath.Rel(gitDir, path)
		if err != nil {
			return err
		}
		at = filepath.ToSlash(at)
		if d.Type()&fs.ModeSymlink != 0 {
			return refuse(".git/%s is a symbolic link, which leads elsewhere; remove it", at)
		}
		// Below objects, only the directories can be written to.
		if d.IsDir() && (slices.Contains(unread, at) || strings.HasPrefix(at, "objects/") && at != "objects/info" && at != "objects/pack") {
			return fs.SkipDir
		}
		return nil
	})
}

// harmless are the core settings that a repository may have: they name no program or file, or
// are overridden.
var harmless = strings.Fields(`
	abbrev autocrlf bare bigfilethreshold checkroundtripencoding checkstat commentchar commentstring commitgraph compression
	deltabasecachelimit eol filemode filesreflocktimeout fscache fsync fsyncmethod fsyncobjectfiles hidedotfiles ignorecase ignorestat
	logallrefupdates longpaths loosecompression maxtreedepth multipackindex notesref packedgitlimit packedgitwindowsize packedrefstimeout
	precomposeunicode preloadindex protecthfs protectntfs quotepath repositoryformatversion restrictinheritedhandles safecrlf
	sharedrepository sparsecheckout sparsecheckoutcone symlinks trustctime unsetenvvars usereplacerefs warnambiguousrefs whitespace
	worktree
	alternaterefscommand askpass attributesfile editor excludesfile fsmonitor fsmonitorhookversion gitproxy hookspath pager
	prefersymlinkrefs splitindex sshcommand untrackedcache`)

// extensions are those that do not change where files are.
var extensions = []string{"noop", "noop-v1", "objectformat", "preciousobjects", "refstorage", "relativeworktrees", "worktreeconfig"}

// inspectConfig rejects a repository whose config has a setting that cannot be overridden.
func inspectConfig(ctx context.Context, g *gitcmd.Git) error {
	for _, name := range configs {
		info, err := os.Lstat(filepath.Join(g.GitDir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.Mode().IsRegular() {
			err = refuse(".git/%s is not a regular file", name)
		}
		if err == nil {
			err = inspectSettings(ctx, g, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func inspectSettings(ctx context.Context, g *gitcmd.Git, file string) error {
	out, err := g.Run(ctx, nil, "config", "--file", filepath.Join(g.GitDir, file), "--no-includes", "--name-only", "-z", "--list")
	if err != nil {
		return fmt.Errorf("reading .git/%s: %w", file, err)
	}
	for key := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		section, name := key, key
		if i := strings.IndexByte(key, '.'); i >= 0 {
			section, name = key[:i], key[strings.LastIndexByte(key, '.')+1:]
		}
		dangerous := false
		switch section {
		case "filter", "include", "includeif", "hook":
			dangerous = true
		case "core":
			dangerous = !slices.Contains(harmless, name)
		case "extensions":
			dangerous = !slices.Contains(extensions, name)
		case "remote":
			dangerous = name == "promisor" || name == "partialclonefilter"
		}
		if dangerous {
			return refuse("its config sets %q, by which Git could run programs or read other files; remove that from .git/%s", key, file)
		}
	}
	return nil
}
