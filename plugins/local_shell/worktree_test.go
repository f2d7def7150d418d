//go:build linux

package localshell_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins"
	localshell "github.com/domarkx/domarkx/plugins/local_shell"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// TestGitDirectoryIsSealed runs commands in a whole work tree.
func TestGitDirectoryIsSealed(t *testing.T) {
	for name, c := range map[string]struct {
		plugin localshell.Plugin
		sealed bool
		warns  string
	}{
		"namespaces":    {localshell.New(), true, ""},
		"no namespaces": {localshell.NewWithoutNamespaces(), false, "can write the repository's Git directory"},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			if err := os.Mkdir(filepath.Join(top, ".git"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(top, ".git/config"), []byte("mine\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			t.Setenv("TMPDIR", ".")
			var warned []string
			env := domarkx.Env{
				Dir: t.TempDir(), WorkTree: top, Forbidden: []string{filepath.Join(top, ".git"), filepath.Join(top, "mnt")},
				Config: jsonvalue.ObjectValue().With("path", jsonvalue.StringValue(".")), Warn: func(m string) { warned = append(warned, m) },
			}
			r, err := c.plugin.Open(t.Context(), env)
			if err != nil {
				t.Fatal(err)
			}
			defer r.TearDown(context.Background())
			if code, out := run(t, r, "cat .git/config && echo new >file && mkdir -p sub/.git && echo x >sub/.git/config"); code != 0 || out != "mine\n" {
				t.Errorf("exit %d, %q", code, out)
			}
			if _, out := run(t, r, "umount .git; umount -l .git; mount -o remount,bind,rw .git; unshare -Urm umount .git; echo evil >>.git/config; echo evil >.git/hook; rm -rf .git; mv .git away; cat .git/config"); c.sealed && !strings.HasSuffix(out, "\nmine\n") {
				t.Errorf("the Git directory was written: %q", out)
			}
			// CAP_SYS_ADMIN could undo the mounts, CAP_SYS_MODULE, CAP_SYS_RAWIO and CAP_MKNOD reach around them.
			const most = 1<<14 - 1&^(1<<2|1<<9|1<<12) | 1<<18 | 1<<29 | 1<<31
			_, out := run(t, r, "sed -n 's/^Cap\\(Eff\\|Prm\\|Amb\\):.//p' /proc/self/status")
			for set := range strings.FieldsSeq(out) {
				if held, err := strconv.ParseUint(set, 16, 64); err != nil || held&^most != 0 || held != 0 && os.Geteuid() != 0 {
					t.Errorf("a command has capabilities: %q, %v", out, err)
				}
			}
			if got := strings.Join(warned, "\n"); !strings.Contains(got, c.warns) || (c.warns == "") != (got == "") {
				t.Errorf("warnings: %q", warned)
			}
		})
	}
}

func TestOutputLimit(t *testing.T) {
	const limit = 3 << 20
	r, err := localshell.NewLimited(limit).Open(t.Context(), domarkx.Env{Dir: t.TempDir(), Config: jsonvalue.ObjectValue()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.TearDown(context.Background())
	began := time.Now()
	result, err := r.Execute(t.Context(), call("run_command", "command", "while :; do echo some output of a command that does not end; done; touch after"))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	defer result.Attachment.Close()
	whole, err := io.Copy(io.Discard, result.Attachment)
	if err != nil || whole != limit || member(result, "bytes") != "3145728" {
		t.Errorf("%d bytes in the attachment, %s said, %v", whole, member(result, "bytes"), err)
	}
	if len(member(result, "output")) > 1<<20 || member(result, "truncated") == "" {
		t.Errorf("%d bytes of output in the result", len(member(result, "output")))
	}
	if over, ok := result.Value.Get("output_limit_exceeded"); !ok || !over.IsTrue() {
		t.Error("the result does not say that there was more")
	}
	if _, err := os.Stat(filepath.Join(r.(domarkx.HostPath).Path(), "after")); err == nil {
		t.Error("the command went on")
	}
}

// TestMissingLandlockWarnsOnce checks that a kernel without Landlock causes one warning for several
// resources.
func TestMissingLandlockWarnsOnce(t *testing.T) {
	var warned []string
	m := plugins.New([]domarkx.Plugin{localshell.NewWithoutLandlock()}, plugintest.NewMemory(),
		plugins.Config{Dir: t.TempDir(), Warn: func(m string) { warned = append(warned, m) }})
	config := jsonvalue.ObjectValue().With("type", jsonvalue.StringValue("local_shell"))
	for _, workspace := range []string{"a", "b", "a"} {
		l, err := m.Open(t.Context(), plugintest.MayOpen(workspace, []domarkx.ResourceSpec{
			{ID: "one", Type: "local_shell", Config: config}, {ID: "two", Type: "local_shell", Config: config}}), plugins.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "no Landlock") {
		t.Errorf("warnings: %q", warned)
	}
}
