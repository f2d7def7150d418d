//go:build linux

package localshell_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
)

// TestTerminals checks that a command cannot see the user's terminals, and can create its own.
func TestTerminals(t *testing.T) {
	dir := makeDir(t, "/tmp", "s")
	t.Setenv("TMUX_TMPDIR", dir)
	t.Setenv("SHELL", "/bin/sh")
	server := func(args ...string) *exec.Cmd {
		return exec.Command("tmux", append([]string{"-L", "test"}, args...)...)
	}
	if out, err := server("-f", "/dev/null", "new-session", "-d").CombinedOutput(); err != nil {
		t.Fatalf("starting a tmux server: %v\n%s", err, out)
	}
	t.Cleanup(func() { server("kill-server").Run() })
	out, err := server("display-message", "-p", "#{pane_tty}").Output()
	terminal := strings.TrimSpace(string(out))
	if err != nil || filepath.Dir(terminal) != "/dev/pts" {
		t.Fatalf("the terminal of tmux: %q, %v", out, err)
	}
	for _, sandboxed := range []bool{true, false} {
		r, _ := open(t, domarkx.Allow{Unsandboxed: !sandboxed})
		if code, out := run(t, r, "printf x >"+terminal); (code == 0) == sandboxed {
			t.Errorf("sandboxed: %v: exit code %d: %s", sandboxed, code, out)
		}
	}
	r, _ := open(t, domarkx.Allow{})
	if code, out := run(t, r, "script -qec 'test -t 0 && tty' /dev/null"); code != 0 || strings.TrimSpace(out) != "/dev/pts/0" {
		t.Errorf("a terminal of the command's own: exit code %d: %q", code, out)
	}
}
