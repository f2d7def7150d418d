package gitcmd_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

func TestRun(t *testing.T) {
	g := discover(t, gittest.Init(t))
	out, err := g.Run(t.Context(), strings.NewReader("content"), "hash-object", "-w", "--stdin")
	if string(out) != "6b584e8ece562ebffc15d38808cd6b98fc3d97ea\n" || err != nil {
		t.Errorf("Run = %q, %v", out, err)
	}
	var failed *gitcmd.Error
	_, err = g.Run(t.Context(), nil, "-c", "a.b=c", "cat-file", "-e", strings.Repeat("1", 40))
	if !errors.As(err, &failed) || failed.Code != 1 {
		t.Errorf("a missing object: %v", err)
	}
	_, err = g.Run(t.Context(), nil, "-c", "a.b=c", "cat-file", "blob", "HEAD")
	if !errors.As(err, &failed) || failed.Code != 128 || !strings.HasPrefix(err.Error(), "git cat-file: ") || strings.Contains(err.Error(), "fatal") {
		t.Errorf("git refuses: %v", err)
	}
	var stdout, stderr bytes.Buffer
	_, err = g.Do(t.Context(), gitcmd.Command{Args: []string{"-c", "alias.x=!echo $GIT_OPTIONAL_LOCKS $GIT_NO_REPLACE_OBJECTS $LC_ALL $NEW $GONE; echo err >&2", "x"}, Stdout: &stdout, Stderr: &stderr, Env: []string{"NEW=new", "PWD"}})
	if stdout.String() != "0 1 C new\n" || stderr.String() != "err\n" || err != nil {
		t.Errorf("Do = %q, %q, %v", stdout.String(), stderr.String(), err)
	}
}

func TestErrorIsFitToBeShown(t *testing.T) {
	g := discover(t, gittest.Init(t))
	script := `!printf 'Counting: 1%%\rCounting: 2%%\rdone\nred \033[31m\377\n'; i=0; while test $i -lt 3000; do echo 0123456789; i=$((i+1)); done; echo last; exit 3`
	_, err := g.Run(t.Context(), nil, "-c", "alias.x="+script+" >&2", "x")
	var failed *gitcmd.Error
	if !errors.As(err, &failed) || failed.Code != 3 {
		t.Fatal(err)
	}
	_, err = g.Run(t.Context(), nil, "-c", `alias.x=!{ printf 'at 1%%\rat 2%%\rdone\nred \033[31m\377\n'; exit 1; } >&2`, "x")
	if !errors.As(err, &failed) || failed.Stderr != "done\nred [31m\uFFFD" {
		t.Errorf("Stderr = %q", failed.Stderr)
	}
}

// TestLines reads lines that come in pieces, and ends a git before it has written all of them.
func TestLines(t *testing.T) {
	g := discover(t, gittest.Init(t))
	script := func(text string) gitcmd.Command {
		return gitcmd.Command{Args: []string{"-c", "alias.x=!" + text, "x"}, Stdin: strings.NewReader("in\n")}
	}
	var got []string
	note := func(line []byte) error {
		got = append(got, string(line))
		return nil
	}
	if err := g.Lines(t.Context(), script("cat; printf 'a\nb'; sleep .1; printf 'c\n\n'"), note); err != nil || !slices.Equal(got, []string{"in", "a", "bc", ""}) {
		t.Errorf("%q, %v", got, err)
	}
	stop := errors.New("enough")
	if err := g.Lines(t.Context(), script("while echo line; do :; done"), func([]byte) error { return stop }); err != stop {
		t.Errorf("%v, want %v", err, stop)
	}
	var failed *gitcmd.Error
	if err := g.Lines(t.Context(), script("exit 3"), note); !errors.As(err, &failed) || failed.Code != 3 {
		t.Errorf("%v, want exit code 3", err)
	}
}

// TestCancel ends the context of a git, which stops git and its children.
func TestCancel(t *testing.T) {
	g := discover(t, gittest.Init(t))
	fifo := filepath.Join(t.TempDir(), "fifo")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The pipe ends only when the shell and its cat have ended too.
	command := gitcmd.Command{Args: []string{"-c", "alias.x=!mkfifo '" + fifo + "' && echo ready && cat '" + fifo + "'", "x"}}
	var began time.Time
	err := g.Lines(ctx, command, func(line []byte) error {
		if string(line) != "ready" {
			t.Errorf("%q", line)
		}
		began = time.Now()
		cancel()
		return nil
	})
	if took := time.Since(began); !errors.Is(err, context.Canceled) || took > 2*time.Second {
		t.Errorf("%v after %v, want %v at once", err, took, context.Canceled)
	}
}

func TestIgnored(t *testing.T) {
	dir := gittest.Init(t)
	other := gittest.Init(t)
	gittest.Run(t, other, "commit", "-q", "--allow-empty", "-m", "one")
	gittest.Run(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "module")
	write(t, filepath.Join(dir, ".gitignore"), "*.log\n/build/\nmodule/x\n", 0o644)
	write(t, filepath.Join(dir, "sub", ".gitignore"), "!kept.log\n", 0o644)
	write(t, filepath.Join(dir, "build", "x"), "", 0o644)
	if err := os.Symlink(other, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, name := range []string{"a.md", "a.log", "sub/kept.log", "sub/other.log", "build/x", "module/x", "link/a.log", ":(top)a.log", "*.md", "missing/x.log", "ä\n.log"} {
		paths = append(paths, filepath.Join(dir, name))
	}
	paths = append(paths, dir, filepath.Join(other, "a.log"), filepath.Dir(dir), filepath.Join(dir, "fifo", "b.log"), filepath.Join(dir, "fifo", "kept"))
	if err := cmp.Or(os.Mkdir(filepath.Join(dir, "fifo"), 0o755), syscall.Mkfifo(filepath.Join(dir, "fifo", ".gitignore"), 0o644)); err != nil {
		t.Fatal(err)
	}
	ignored, err := discover(t, filepath.Join(dir, "sub")).Ignored(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for path := range maps.Keys(ignored) {
		got = append(got, strings.TrimPrefix(path, dir+"/"))
	}
	slices.Sort(got)
	want := []string{":(top)a.log", "a.log", "build/x", "fifo/b.log", "sub/other.log", "ä\n.log"}
	if !slices.Equal(got, want) {
		t.Errorf("Ignored = %q, want %q", got, want)
	}
	bare, err := discover(t, gittest.Init(t, "--bare")).Ignored(t.Context(), paths)
	if len(bare) != 0 || err != nil {
		t.Errorf("in a bare repository: %v, %v", bare, err)
	}
}
