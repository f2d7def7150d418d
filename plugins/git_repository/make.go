package gitrepository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/process"
)

func (r *repository) make(ctx context.Context) error {
	if from, ok := r.env.Config.Get("url"); ok {
		if err := r.clone(ctx, from.Text()); err != nil {
			return fmt.Errorf("cloning %q: %w", r.shownURL(), err)
		}
		return nil
	}
	if info, err := os.Lstat(r.gitDir); !errors.Is(err, fs.ErrNotExist) {
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%q: .git is not a directory: %w; a submodule or linked work tree has its repository elsewhere, and versions would not contain it: clone it instead", r.Path(), domarkx.ErrInvalid)
		}
		return err
	}
	if err := os.RemoveAll(r.gitDir + asideSuffix); err != nil { // left by a killed process
		return err
	}
	entries, err := os.ReadDir(r.Path())
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%q has files but no repository: %w; run \"git init\" there, or use the type filesystem", r.Path(), domarkx.ErrInvalid)
	}
	return initialize(r.gitDir, oid.SHA1, "")
}

// asideSuffix is appended to the name of a Git directory that is still incomplete.
const asideSuffix = ".lock"

// initialize creates a Git directory with a hash function, with the same content on every machine. Its last step moves
// the directory to its name.
func initialize(gitDir string, by oid.Hash, remote string) error {
	aside := gitDir + asideSuffix
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	for _, name := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(aside, filepath.FromSlash(name)), 0o755); err != nil {
			return err
		}
	}
	version, extensions := 0, ""
	if by != oid.SHA1 {
		version, extensions = 1, "[extensions]\n\tobjectformat = "+by.String()+"\n"
	}
	config := fmt.Sprintf("[core]\n\trepositoryformatversion = %d\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n", version) + extensions + remote
	for name, content := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": config} {
		if err := os.WriteFile(filepath.Join(aside, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return os.Rename(aside, gitDir)
}

// clone clones a repository into a temporary directory and renames that.
func (r *repository) clone(ctx context.Context, from string) error {
	if err := allowed(from, r.shownURL(), r.env.Allow.URLs); err != nil {
		return err
	}
	aside := r.in(cloneName)
	if err := dirversion.Empty(r.Path()); err != nil {
		return err
	}
	s, err := r.source(from)
	if err == nil {
		err = r.cloneInto(ctx, aside, s)
	}
	if err != nil {
		return explain(ctx, r.hide(err, from))
	}
	entries, err := os.ReadDir(aside)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(aside, e.Name()), filepath.Join(r.Path(), e.Name())); err != nil {
			return err
		}
	}
	return os.Remove(aside)
}

// create makes a repository with a hash function, to clone another one, in a directory, which is emptied.
func (r *repository) create(ctx context.Context, dir string, by oid.Hash, from source) (*gitcmd.Git, error) {
	if err := errors.Join(dirversion.Empty(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return nil, err
	}
	remote := "[remote \"origin\"]\n\turl = " + quoteConfig(r.shownURL()) + "\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
	if err := initialize(filepath.Join(dir, ".git"), by, remote); err != nil {
		return nil, err
	}
	settings := append([][2]string{{"remote." + sourceName + ".url", from.url}}, from.settings...)
	return gitcmd.Discover(ctx, dir, r.environment(dir, settings...))
}

// cloneInto makes a repository in a directory, and fetches from another one. What talks with that is
// supervised, since it may wait for another machine.
func (r *repository) cloneInto(ctx context.Context, dir string, from source) error {
	g, err := r.create(ctx, dir, oid.SHA1, from)
	if err != nil {
		return err
	}
	env := append(slices.Clone(from.secrets), "GIT_ALLOW_PROTOCOL=file:https:ssh", "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	env = append(env, inherited("GIT_SSH_COMMAND", "SSH_AUTH_SOCK", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "ALL_PROXY")...)
	do := func(args ...string) (string, error) {
		out, err := g.Do(ctx, gitcmd.Command{Args: args, Env: env, Run: process.Run})
		return strings.TrimSpace(string(out)), err
	}
	refs, err := do("ls-remote", "--symref", "--", sourceName)
	if err != nil {
		return err
	}
	head := "" // stays empty if the repository has no commit, or its HEAD is detached
	for line := range strings.Lines(refs) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if branch, ok := strings.CutPrefix(id, "ref: refs/heads/"); ok && name == "HEAD" {
			head = branch
		}
		if theirs, err := oid.Parse(id); err == nil && !theirs.IsOf(g.Hash) {
			if g, err = r.create(ctx, dir, theirs.Hash(), from); err != nil {
				return err
			}
		}
	}
	return r.fetch(do, head)
}

// fetch fetches everything from a repository, and checks out the branch or ref of the config, or the branch that its HEAD names.
func (r *repository) fetch(do func(args ...string) (string, error), head string) error {
	branch, ref := r.text("branch"), r.text("ref")
	refspecs := []string{"+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"}
	if strings.HasPrefix(ref, "refs/") && !strings.HasPrefix(ref, "refs/heads/") && !strings.HasPrefix(ref, "refs/tags/") {
		refspecs = append(refspecs, "+"+ref+":"+ref)
	}
	fetch := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--update-shallow", "--", sourceName} // without --update-shallow, git fetches nothing from a shallow repository
	if _, err := do(append(fetch, refspecs...)...); err != nil {
		return err
	}
	if _, err := do("pack-refs", "--all"); err != nil {
		return err
	}
	// Reflogs would contain who cloned the repository, and when.
	checkout := []string{"-c", "core.logAllRefUpdates=false", "checkout", "--quiet", "--no-recurse-submodules"}
	if ref != "" {
		if rest, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			ref = "refs/remotes/origin/" + rest
		}
		id, err := do("rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
		if err != nil {
			return fmt.Errorf("ref %q: %w", ref, domarkx.ErrNotFound)
		}
		_, err = do(append(checkout, "--detach", id)...)
		return err
	}
	named := branch != ""
	if !named {
		branch = head
	}
	if branch == "" {
		return nil
	}
	if _, err := do("rev-parse", "--verify", "--quiet", "--end-of-options", "refs/remotes/origin/"+branch+"^{commit}"); err != nil {
		if named {
			return fmt.Errorf("branch %q: %w", branch, domarkx.ErrNotFound)
		}
		return nil // a branch without commits
	}
	_, err := do(append(checkout, "-B", branch, "--track", "origin/"+branch)...)
	return err
}

func (r *repository) text(name string) string {
	v, _ := r.env.Config.Get(name)
	return v.Text()
}

// shortForm matches HOST:PATH and USER@HOST:PATH, which stand for ssh.
var shortForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(@[A-Za-z0-9_][A-Za-z0-9_.-]*)?:[^:]`)
})

// allowed returns an error unless the user allows cloning a URL: it must begin with one of the
// prefixes, and the prefix must end where a component of the URL ends.
func allowed(from, shown string, prefixes []string) error {
	scheme, rest, ok := strings.Cut(from, "://")
	switch {
	case strings.ContainsFunc(from, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return refusal("the URL has a control character")
	case ok && scheme != "file" && scheme != "https" && scheme != "ssh", !ok && !filepath.IsAbs(from) && !shortForm().MatchString(from):
		return refusal("expected a URL of file, https or ssh, HOST:PATH, or an absolute path")
	case strings.HasPrefix(rest, "-"):
		return refusal("the URL has a host that begins with \"-\"")
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(from, "\\", "/"), "/") {
		if plain, err := url.PathUnescape(part); err != nil || plain == ".." {
			return refusal("the URL has \"..\" in it, or is none")
		}
	}
	for _, p := range prefixes {
		rest, ok := strings.CutPrefix(redact(from), p)
		if ok && p != "" && (rest == "" || rest == ".git" || rest[0] == '/' || strings.HasSuffix(p, "/") || strings.HasSuffix(p, ":")) {
			return nil
		}
	}
	return refusal("your configuration does not allow this URL; if you want it: git config --add domarkx.allowURL %q", shown)
}

// quoteConfig quotes a value for a config file (git-config(1), syntax).
func quoteConfig(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
}
