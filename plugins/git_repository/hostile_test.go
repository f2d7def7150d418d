package gitrepository_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// A hostile repository is one in which plant changed something.
type hostile struct {
	name    string
	plant   func(dir, evil, secret string)
	refused bool
}

// together plants in one repository what several hostile ones have in their own settings: a program
// that runs is noticed there, too, but not whose it is.
func together(cases []hostile) []hostile {
	var all hostile
	var plants []func(dir, evil, secret string)
	rest := slices.DeleteFunc(slices.Clone(cases), func(c hostile) bool {
		own := !c.refused && !strings.Contains(c.name, "hooks") && !strings.Contains(c.name, "submodule") && c.name != "core.worktree"
		if own {
			all.name, plants = all.name+" "+c.name, append(plants, c.plant)
		}
		return own
	})
	all.plant = func(dir, evil, secret string) {
		for _, plant := range plants {
			plant(dir, evil, secret)
		}
	}
	return append([]hostile{all}, rest...)
}

// TestHostileRepository has all known ways in which a repository can make git run a program or reach
// other files. The tools must refuse each one or prevent its effect.
func TestHostileRepository(t *testing.T) {
	isolate(t)
	honest := t.TempDir()
	with := open(t, domarkx.Env{Config: value(t, `{}`), Dir: honest})
	run(t, with, "write_file", `{"path": "f", "content": "1\n"}`)
	git(t, pathOf(with), "add", ".")
	git(t, pathOf(with), "commit", "-q", "-m", "one")
	git(t, pathOf(with), "branch", "side")
	cases := []hostile{
		{"hooks", func(dir, evil, _ string) {
			for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "post-checkout", "post-index-change", "reference-transaction", "prepare-commit-msg", "post-rewrite", "pre-auto-gc"} {
				write(t, filepath.Join(dir, ".git/hooks", hook), "#!/bin/sh\n"+evil+"\n")
				os.Chmod(filepath.Join(dir, ".git/hooks", hook), 0o755)
			}
		}, false},
		{"core.hooksPath", func(dir, evil, _ string) {
			write(t, filepath.Join(dir, "h/post-checkout"), "#!/bin/sh\n"+evil+"\n")
			os.Chmod(filepath.Join(dir, "h/post-checkout"), 0o755)
			git(t, dir, "config", "core.hooksPath", "h")
		}, false},
		{"core.fsmonitor", func(dir, evil, _ string) { git(t, dir, "config", "core.fsmonitor", evil) }, false},
		{"pagers and editors", func(dir, evil, _ string) {
			for _, key := range []string{"core.pager", "core.editor", "sequence.editor", "pager.log", "pager.status", "pager.diff", "pager.branch", "core.askPass", "core.sshCommand", "interactive.diffFilter"} {
				git(t, dir, "config", key, evil)
			}
		}, false},
		{"signing", func(dir, evil, _ string) {
			write(t, filepath.Join(filepath.Dir(dir), "sign"), "#!/bin/sh\n"+evil+"\n")
			for key, v := range map[string]string{"gpg.program": filepath.Join(filepath.Dir(dir), "sign"), "gpg.openpgp.program": filepath.Join(filepath.Dir(dir), "sign"), "commit.gpgSign": "true", "log.showSignature": "true", "user.signingKey": "x", "format.pretty": "%G?"} {
				git(t, dir, "config", key, v)
			}
		}, false},
		{"external diff", func(dir, evil, _ string) {
			git(t, dir, "config", "diff.external", evil)
			git(t, dir, "config", "diff.d.command", evil)
			git(t, dir, "config", "diff.d.textconv", evil)
			attribute(t, dir, "diff=d")
		}, false},
		{"merge driver", func(dir, evil, _ string) {
			git(t, dir, "config", "merge.d.driver", evil)
			attribute(t, dir, "merge=d")
		}, false},
		{"aliases", func(dir, evil, _ string) {
			for _, name := range []string{"status", "diff", "log", "commit", "checkout", "branch", "add"} {
				git(t, dir, "config", "alias."+name, "!"+evil)
			}
		}, false},
		{"credentials", func(dir, evil, _ string) { git(t, dir, "config", "credential.helper", "!"+evil) }, false},
		{"template and trailers", func(dir, evil, secret string) {
			git(t, dir, "config", "commit.template", secret)
			git(t, dir, "config", "trailer.x.command", evil)
			git(t, dir, "config", "trailer.x.cmd", evil)
		}, false},
		{"a submodule with a filter", func(dir, evil, _ string) {
			sub := filepath.Join(dir, "sub")
			if err := os.Mkdir(sub, 0o755); err != nil {
				t.Fatal(err)
			}
			git(t, sub, "init", "-q")
			write(t, filepath.Join(sub, "f"), "x\n")
			write(t, filepath.Join(sub, ".gitattributes"), "* filter=x\n")
			git(t, sub, "add", ".")
			git(t, sub, "commit", "-q", "-m", "x")
			write(t, filepath.Join(dir, ".gitmodules"), "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n\tupdate = !"+evil+"\n")
			git(t, dir, "add", "sub", ".gitmodules")
			git(t, dir, "commit", "-q", "-m", "sub")
			git(t, sub, "config", "filter.x.clean", evil)
			git(t, sub, "config", "core.fsmonitor", evil)
			git(t, dir, "config", "submodule.recurse", "true")
			git(t, dir, "config", "status.submoduleSummary", "true")
			git(t, dir, "config", "diff.submodule", "diff")
			write(t, filepath.Join(sub, "f"), "y\n")
		}, false},
		{"a submodule that wants to be looked into", func(dir, evil, _ string) {
			sub := filepath.Join(dir, "sub")
			git(t, dir, "init", "-q", "sub")
			write(t, filepath.Join(sub, "f"), "x\n")
			write(t, filepath.Join(sub, ".gitattributes"), "* filter=x\n")
			git(t, sub, "add", ".")
			git(t, sub, "commit", "-q", "-m", "x")
			write(t, filepath.Join(dir, ".gitmodules"), "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n")
			git(t, dir, "add", "sub", ".gitmodules")
			git(t, dir, "commit", "-q", "-m", "sub")
			git(t, dir, "branch", "-f", "side")
			git(t, dir, "config", "submodule.sub.ignore", "none")
			git(t, dir, "config", "diff.ignoreSubmodules", "none")
			git(t, sub, "config", "filter.x.clean", evil)
			write(t, filepath.Join(sub, "f"), "y\n")
		}, false},
		{"core.worktree", func(dir, _, secret string) { git(t, dir, "config", "core.worktree", filepath.Dir(secret)) }, false},
		{"filters", func(dir, evil, _ string) {
			git(t, dir, "config", "filter.x.clean", evil)
			git(t, dir, "config", "filter.x.smudge", evil)
			write(t, filepath.Join(dir, ".gitattributes"), "* filter=x\n")
		}, true},
		{"a filter process", func(dir, evil, _ string) {
			git(t, dir, "config", "filter.x.process", evil)
			write(t, filepath.Join(dir, ".gitattributes"), "* filter=x\n")
		}, true},
		{"an included config", func(dir, evil, _ string) {
			write(t, filepath.Join(dir, "more"), "[filter \"x\"]\n\tclean = "+evil+"\n")
			write(t, filepath.Join(dir, ".gitattributes"), "* filter=x\n")
			git(t, dir, "config", "include.path", "../more")
		}, true},
		{"a conditional config", func(dir, evil, _ string) {
			write(t, filepath.Join(dir, "more"), "[filter \"x\"]\n\tclean = "+evil+"\n")
			write(t, filepath.Join(dir, ".gitattributes"), "* filter=x\n")
			git(t, dir, "config", "includeIf.onbranch:main.path", "../more")
		}, true},
		{"a config of the work tree", func(dir, evil, _ string) {
			git(t, dir, "config", "extensions.worktreeConfig", "true")
			write(t, filepath.Join(dir, ".git/config.worktree"), "[filter \"x\"]\n\tclean = "+evil+"\n")
			write(t, filepath.Join(dir, ".gitattributes"), "* filter=x\n")
		}, true},
		{"a promisor", func(dir, evil, _ string) {
			git(t, dir, "config", "remote.origin.url", "ext::"+evil)
			git(t, dir, "config", "remote.origin.promisor", "true")
			git(t, dir, "config", "protocol.ext.allow", "always")
			git(t, dir, "config", "extensions.partialClone", "origin")
		}, true},
		{"an unknown setting of the core", func(dir, evil, _ string) { git(t, dir, "config", "core.runThis", evil) }, true},
		{"a config-based hook", func(dir, evil, _ string) { git(t, dir, "config", "hook.x.command", evil) }, true},
		{"a linked log", func(dir, _, secret string) {
			link(t, secret, filepath.Join(dir, ".git/logs/HEAD"))
		}, true},
		{"a linked message", func(dir, _, secret string) {
			link(t, secret, filepath.Join(dir, ".git/COMMIT_EDITMSG"))
		}, true},
		{"linked refs", func(dir, _, secret string) {
			link(t, filepath.Dir(secret), filepath.Join(dir, ".git/refs/tags"))
		}, true},
		{"linked objects", func(dir, _, secret string) { link(t, filepath.Dir(secret), filepath.Join(dir, ".git/objects/00")) }, true},
		{"a linked index", func(dir, _, secret string) {
			link(t, secret, filepath.Join(dir, ".git/index"))
		}, true},
		{"another common directory", func(dir, _, _ string) { write(t, filepath.Join(dir, ".git/commondir"), "/elsewhere\n") }, true},
		{"alternates", func(dir, _, _ string) { write(t, filepath.Join(dir, ".git/objects/info/alternates"), "/elsewhere\n") }, true},
		{"a linked config", func(dir, _, secret string) {
			link(t, secret, filepath.Join(dir, ".git/config"))
		}, true},
	}
	if os.Getenv("SOAK") == "" {
		cases = together(cases)
	}
	firstRefused := slices.IndexFunc(cases, func(c hostile) bool { return c.refused })
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			top := t.TempDir()
			marker, secret := filepath.Join(top, "ran"), filepath.Join(top, "secret", "file")
			write(t, secret, "s3cret\n")
			if err := os.CopyFS(top, os.DirFS(honest)); err != nil {
				t.Fatal(err)
			}
			r := open(t, domarkx.Env{Config: value(t, `{}`), Dir: top})
			dir := pathOf(r)
			c.plant(dir, "touch "+marker+"; false", secret)
			store := plugintest.NewMemory()
			os.Remove(marker) // planting may have run the program
			// On Linux a version contains the planted files; they must have no effect there either.
			resources := []domarkx.Resource{r}
			if !strings.Contains(c.name, "index") && !(testing.Short() && i > 1) {
				version := commit(t, r, store)
				there := open(t, domarkx.Env{Config: value(t, `{}`)})
				if err := there.Load(t.Context(), store, version); err != nil {
					t.Fatal(err)
				}
				resources = append(resources, there)
			}
			for _, r := range resources {
				_, err := r.Execute(t.Context(), call(t, "write_file", `{"path": "f", "content": "2\n"}`))
				if err != nil {
					t.Fatal(err)
				}
				steps := [][2]string{
					{"status", `{}`}, {"diff", `{}`}, {"commit", `{"message": "x"}`}, {"log", `{}`}, {"checkout", `{"ref": "side", "force": true}`}, {"checkout", `{"ref": "main"}`},
					{"diff", `{"from": "HEAD"}`}, {"log", `{"paths": ["f"]}`},
					{"branch", `{"name": "b` + fmt.Sprint(i) + `"}`}, {"branch", `{"name": "b` + fmt.Sprint(i) + `", "delete": true}`},
				}
				switch {
				case testing.Short() && c.refused: // all tools look for that first
					steps = steps[:2]
				case c.refused && i != firstRefused && os.Getenv("SOAK") == "":
					steps = [][2]string{steps[0], steps[2], steps[4]}
				case testing.Short() && i > 1: // each tool that reads or writes the work tree
					steps = steps[:6]
				}
				for _, step := range steps {
					_, err := r.Execute(t.Context(), call(t, step[0], step[1]))
					var tool *domarkx.ToolError
					if c.refused && (!errors.As(err, &tool) || tool.Code != domarkx.CodeRefused) || !c.refused && err != nil {
						t.Errorf("%s: %v, expected refused %v", step[0], err, c.refused)
					}
				}
				// If there is nothing to commit, git inspects the work tree.
				for _, arguments := range []string{`{"message": "x"}`, `{"message": "x", "staged": true}`} {
					_, err := r.Execute(t.Context(), call(t, "commit", arguments))
					var tool *domarkx.ToolError
					if !errors.As(err, &tool) || !c.refused && tool.Message != "nothing to commit" {
						t.Errorf("an empty commit: %v", err)
					}
				}
				if _, err := os.Lstat(marker); !os.IsNotExist(err) {
					t.Error("a program ran")
					os.Remove(marker)
				}
				if data, err := os.ReadFile(secret); err != nil || string(data) != "s3cret\n" {
					t.Errorf("changed a file outside: %q, %v", data, err)
				}
				if entries, err := os.ReadDir(filepath.Dir(secret)); len(entries) != 1 || err != nil {
					t.Errorf("wrote files outside: %v", entries)
				}
			}
		})
	}
}

// attribute gives all files of a repository an attribute.
func attribute(t *testing.T, dir, attribute string) {
	t.Helper()
	path := filepath.Join(dir, ".gitattributes")
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	write(t, path, string(before)+"* "+attribute+"\n")
}

// link replaces a file or directory, if there is one, by a symbolic link.
func link(t *testing.T, target, path string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(path), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
}

// TestEndlessIndex has an index that consists of holes: it takes no disk space, but reading it would
// take all memory.
func TestEndlessIndex(t *testing.T) {
	isolate(t)
	r := open(t, domarkx.Env{Config: value(t, `{}`)})
	run(t, r, "write_file", `{"path": "f", "content": "1\n"}`)
	index := filepath.Join(pathOf(r), ".git/index")
	if err := errors.Join(os.WriteFile(index, nil, 0o644), os.Truncate(index, 1<<40)); err != nil {
		t.Fatal(err)
	}
	w, err := plugintest.NewMemory().Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), w); !errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), ".git/index") {
		t.Errorf("committed: %v", err)
	}
}
