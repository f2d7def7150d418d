package integration_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMountFaultSelf reads the system calls of a mount: its process never looks up
// a path in its own mount. If it was killed meanwhile it would wait for its own
// answer, and everybody who uses the mount with it, for ever.
func TestMountFaultSelf(t *testing.T) {
	needProgram(t, "strace")
	needFUSE(t)
	if os.Geteuid() != 0 {
		t.Log("nothing is mounted in the mounts of users who are not root")
		return
	}
	t.Parallel()
	r := newRepository(t)
	r.domarkx("append", "-m", "text", "s")
	dir, trace := filepath.Join(t.TempDir(), "mnt"), filepath.Join(t.TempDir(), "trace")
	serve := r.command(t.Context(), "strace", "-f", "-o", trace, "-e", "trace=%file",
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
	r.domarkx("unmount", dir)
	var exit *exec.ExitError
	if err := serve.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^(\d+)\s+(\w+)\((.*)$`)
	children, first, mounted := map[string]bool{}, "", false
	for text := range strings.Lines(string(lines)) {
		m := line.FindStringSubmatch(strings.TrimSpace(text))
		if m == nil {
			continue
		}
		if first == "" {
			first = m[1]
		}
		switch {
		case m[2] == "execve":
			children[m[1]] = m[1] != first
		case m[2] == "mount" && strings.Contains(m[3], fmt.Sprintf("%q", dir)):
			mounted = true
		case children[m[1]]:
		case mounted && strings.Contains(m[3], dir):
			t.Errorf("the mount's own process asks it: %s", strings.TrimSpace(text))
		}
	}
	if !mounted {
		t.Error("the mount is not in the trace")
	}
}
