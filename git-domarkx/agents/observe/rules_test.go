//go:build linux

package observe_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/git-domarkx/agents/observe"
	"github.com/domarkx/domarkx/git-domarkx/events"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// TestTakeOddRules takes versions where a file with patterns is none that can be read: the others
// still apply, and one warning names it.
func TestTakeOddRules(t *testing.T) {
	odd := map[string]func(path string) error{
		"FIFO":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"socket": func(path string) error {
			short := filepath.Join(t.TempDir(), "s")
			l, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", short)
			if err == nil {
				t.Cleanup(func() { l.Close() })
				err = os.Rename(short, path)
			}
			return err
		},
		"endless device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"link to itself": func(path string) error { return os.Symlink(path, path) },
		"link to a FIFO": func(path string) error {
			if err := unix.Mkfifo(path+".fifo", 0o600); err != nil {
				return err
			}
			return os.Symlink(path+".fifo", path)
		},
	}
	for name, place := range odd {
		for _, where := range []string{".git/info/exclude", ".gitignore", "sub/.gitignore", ".git/global"} {
			if gittest.Rounds(1, 2) == 1 && name != "FIFO" && where != "sub/.gitignore" {
				continue // each kind and each place is tested; all pairs if SOAK is set
			}
			t.Run(name+" as "+where, func(t *testing.T) {
				d := newDesk(t)
				git(t, d.top, "config", "core.excludesFile", filepath.Join(d.top, ".git/global"))
				d.write(".git/info/exclude", "*.o\n")
				d.write("sub/a", "a")
				d.write("b.o", "o")
				path := filepath.Join(d.top, where)
				_ = os.Remove(path)
				if err := place(path); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				for _, content := range []string{"one", "two"} {
					d.write("a", content)
					v, err := d.m.Take(ctx, observe.Moment{Kind: events.Prompt, Agent: "codex", ID: "1", Dir: d.top, Time: time.Now()})
					if err != nil || v.ID == "" {
						t.Fatal(v.ID, err)
					}
					files := d.files(v.Workspace)
					if _, ignored := files["b.o"]; files["a"] != content || files["sub/a"] != "a" || ignored != strings.HasSuffix(where, "exclude") {
						t.Errorf("the version has %q", files)
					}
				}
				if len(d.warned) != 1 || !strings.Contains(d.warned[0], where) {
					t.Errorf("warned: %q", d.warned)
				}
			})
		}
	}
}
