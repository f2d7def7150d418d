//go:build unix

package gitcmd_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// alias returns arguments with which git runs a shell script.
func alias(script string) []string { return []string{"-c", "alias.script=!" + script, "script"} }

func TestErrorText(t *testing.T) {
	gone := errors.New("executable not found")
	for want, e := range map[string]*gitcmd.Error{
		"git fetch: exit code 3":              {Args: []string{"fetch", "origin"}, Code: 3},
		"git fetch: no such remote":           {Args: []string{"-c", "a=b", "--no-pager", "fetch"}, Code: 128, Stderr: "fatal: no such remote\n"},
		"git fetch: cannot lock":              {Args: []string{"fetch"}, Code: 1, Stderr: "error: cannot lock"},
		"git fetch: one\ntwo":                 {Args: []string{"fetch"}, Code: 1, Stderr: "one\ntwo\n"},
		"git: executable not found":           {Args: []string{"-c", "a=b", "--version"}, Code: -1, Err: gone},
		"git gc: executable not found: stuck": {Args: []string{"gc"}, Code: -1, Err: gone, Stderr: "fatal: stuck"},
		"git: exit code 2":                    {Code: 2},
		"git: exit code 4":                    {Args: []string{"-c"}, Code: 4},
	} {
		if got := e.Error(); got != want || e.Err != nil && !errors.Is(e, gone) {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// TestStandardErrorIsBounded checks that only the end of what git writes to its standard error is kept, without progress and
// control characters, while a reader gets all of it.
func TestStandardErrorIsBounded(t *testing.T) {
	g := discover(t, gittest.Init(t))
	for name, c := range map[string]struct{ script, want string }{
		"progress":           {`printf 'Counting: 1%%\rCounting: 100%%\rdone   \nfatal: no\n' >&2; exit 1`, "done\nfatal: no"},
		"control characters": {`printf 'fatal: \033[31mred\007\n\ttab\n' >&2; exit 1`, "fatal: [31mred\n\ttab"},
		"no UTF-8":           {`printf 'caf\351\n' >&2; exit 1`, "caf\ufffd"},
		"blank lines":        {`printf '\n\n\nfatal: no\n\n' >&2; exit 1`, "fatal: no"},
		"very much":          {`head -c 1000000 /dev/zero | tr '\0' x >&2; printf 'END' >&2; exit 1`, strings.Repeat("x", 16<<10-3) + "END"},
		"nothing":            {"exit 1", ""},
	} {
		var all bytes.Buffer
		_, err := g.Do(t.Context(), gitcmd.Command{Args: alias(c.script), Stderr: &all})
		var failed *gitcmd.Error
		if !errors.As(err, &failed) || failed.Code != 1 || failed.Stderr != c.want {
			t.Errorf("%s: %.100q, %v", name, failed.Stderr, err)
		}
		if name == "very much" && all.Len() != 1_000_003 {
			t.Errorf("the reader got %d bytes", all.Len())
		}
	}
}

func TestEnvironmentOfACommand(t *testing.T) {
	g := discover(t, gittest.Init(t), "KEPT=1", "CHANGED=1", "REMOVED=1")
	out, err := g.Do(t.Context(), gitcmd.Command{Args: alias(`echo "$KEPT,$CHANGED,${REMOVED-none},${ADDED-none},$ODD"`), Env: []string{"CHANGED=2", "REMOVED", "ADDED=3", "ODD=a=b c"}})
	if err != nil || string(out) != "1,2,none,3,a=b c\n" {
		t.Errorf("%q, %v", out, err)
	}
	if out, err := g.Run(t.Context(), nil, alias(`echo "$CHANGED,${REMOVED-none},${ADDED-none}"`)...); err != nil || string(out) != "1,1,none\n" {
		t.Errorf("the next command: %q, %v", out, err)
	}
}

func TestInheritedFiles(t *testing.T) {
	g := discover(t, gittest.Init(t))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = g.Do(t.Context(), gitcmd.Command{Args: alias("echo inherited >&3"), Inherit: []*os.File{w}})
	w.Close()
	if data, rerr := io.ReadAll(r); string(data) != "inherited\n" || err != nil || rerr != nil {
		t.Errorf("%q, %v, %v", data, err, rerr)
	}
}

// exited is the error of a runner that reports an exit code.
type exited int

func (exited) Error() string   { return "ended" }
func (e exited) Exited() bool  { return e >= 0 }
func (e exited) ExitCode() int { return int(e) }

// TestRunner checks what becomes of the errors of a function that runs git in place of this package.
func TestRunner(t *testing.T) {
	g := discover(t, gittest.Init(t))
	broken, stopped := errors.New("cannot supervise"), errors.New("the user stopped it")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		code int
		is   error
	}{
		"an exit code":      {t.Context(), exited(5), 5, nil},
		"a signal":          {t.Context(), exited(-9), -1, exited(-9)},
		"no start":          {t.Context(), broken, -1, broken},
		"an ended context":  {ended, broken, -1, stopped},
		"a kill by the end": {ended, exited(1), -1, stopped},
	} {
		ran := false
		out, err := g.Do(c.ctx, gitcmd.Command{Args: []string{"version"}, Run: func(_ context.Context, cmd *exec.Cmd) error {
			ran = true
			_, _ = io.WriteString(cmd.Stdout, "partial")
			_, _ = io.WriteString(cmd.Stderr, "fatal: words\n")
			return c.err
		}})
		var failed *gitcmd.Error
		if !ran || string(out) != "partial" || !errors.As(err, &failed) || failed.Code != c.code || !errors.Is(failed.Err, c.is) || failed.Stderr != "fatal: words" {
			t.Errorf("%s: ran %v, %q, %+v", name, ran, out, err)
		}
	}
}

// TestRemovedDirectory checks that git runs on when the directory of the caller was removed.
func TestRemovedDirectory(t *testing.T) {
	top := gittest.Init(t)
	below := mkdir(t, top, "below")
	g := discover(t, below)
	if err := os.Remove(below); err != nil {
		t.Fatal(err)
	}
	if out, err := g.Run(t.Context(), nil, "rev-parse", "--git-dir"); err != nil || len(out) == 0 {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := g.Password(t.Context(), "https://example.com\nhost=evil.example", false); err == nil {
		t.Error("a URL with a line end was asked for")
	}
}
