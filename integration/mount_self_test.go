package integration_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestMountFaultSelf traces the system calls of a mount. Its process must never look up a
// path in its own mount: if it were killed during the lookup, it would wait for its own
// answer forever, and so would every user of the mount.
func TestMountFaultSelf(t *testing.T) {
	needProgram(t, "strace")
	needFUSE(t)
	if os.Geteuid() != 0 {
		t.Log("nothing is mounted in the mounts of users who are not root")
		return
	}
	t.Parallel()
	t.Run("unmount", func(t *testing.T) {
		mountTraced(t, func(r *site, dir string, _ int) { r.domarkx("unmount", dir) })
	})
	t.Run("SIGTERM", func(t *testing.T) {
		mountTraced(t, func(_ *site, _ string, server int) {
			if err := syscall.Kill(server, syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		})
	})
}

// mountTraced runs a mount from start to end under strace, and checks its system calls.
func mountTraced(t *testing.T, end func(r *site, dir string, server int)) {
	r := newRepository(t)
	r.domarkx("append", "--new", "-m", "text", "s")
	dir, trace := filepath.Join(t.TempDir(), "mnt"), filepath.Join(t.TempDir(), "trace")
	serve := r.command(t.Context(), "strace", "-f", "--seccomp-bpf", "-o", trace, "-e", "trace=%file,clone,clone3,vfork,fork",
		filepath.Join(program(t), "git-domarkx"), "mount", "--foreground", dir)
	var said lockedBuffer
	serve.Stdout = &said
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { exec.Command("fusermount3", "-uqz", dir).Run() })
	mounts := func() int {
		table, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(table), " "+dir+" ") + strings.Count(string(table), " "+dir+"/workspaces ")
	}
	eventually(t, "the mount can be used", func() bool { return strings.HasSuffix(said.String(), "\n") })
	r.must("", "fusermount3", "-u", dir+"/workspaces")
	eventually(t, "workspaces/ is mounted again", func() bool { return mounts() == 2 })
	if _, err := os.ReadFile(filepath.Join(dir, "sessions/s.md")); err != nil {
		t.Error(err)
	}
	begun, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	pid, _, _ := strings.Cut(string(begun), " ")
	server, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	end(r, dir, server)
	var exit *exec.ExitError
	if err := serve.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	// Map threads and processes to their creators. A process starts with execve.
	born := regexp.MustCompile(`^(\d+)\s+(?:<\.\.\. )?(?:clone3?|v?fork)\b.*= (\d+)$`)
	line := regexp.MustCompile(`^(\d+)\s+(\w+)\((.*)$`)
	parents, execs := map[string]string{}, map[string]bool{}
	for text := range strings.Lines(string(lines)) {
		text = strings.TrimSpace(text)
		if m := born.FindStringSubmatch(text); m != nil {
			parents[m[2]] = m[1]
		}
		if m := line.FindStringSubmatch(text); m != nil && m[2] == "execve" && m[1] != pid {
			execs[m[1]] = true
		}
	}
	other := func(task string) bool {
		for ; task != "" && task != pid; task = parents[task] {
			if execs[task] {
				return true
			}
		}
		return false
	}
	mounted := false
	for text := range strings.Lines(string(lines)) {
		m := line.FindStringSubmatch(strings.TrimSpace(text))
		if m == nil {
			continue
		}
		switch {
		case m[2] == "execve":
		case m[2] == "mount" && strings.Contains(m[3], fmt.Sprintf("%q", dir)):
			mounted = true
		case other(m[1]):
		case mounted && strings.Contains(m[3], dir):
			t.Errorf("the mount's own process asks it: %s", strings.TrimSpace(text))
		}
	}
	if !mounted {
		t.Error("the mount is not in the trace")
	}
}
