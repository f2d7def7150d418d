package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// inParallel runs f concurrently for the numbers from 0 to n-1.
func inParallel(n int, f func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { f(i) })
	}
	group.Wait()
}

// texts returns the text of each message of a session, in order.
func (s *site) texts(session string) []string {
	s.tb.Helper()
	var document struct {
		Conversation []struct {
			Content []struct{ Value string }
		}
	}
	if err := json.Unmarshal([]byte(s.domarkx("show", "--format", "json", session)), &document); err != nil {
		s.tb.Fatal(err)
	}
	texts := make([]string, 0, len(document.Conversation))
	for _, m := range document.Conversation {
		var b strings.Builder
		for _, c := range m.Content {
			b.WriteString(c.Value)
		}
		texts = append(texts, b.String())
	}
	return texts
}

// expectWriters fails the test unless texts contains exactly each writer's messages, in
// the order in which that writer appended them.
func expectWriters(t *testing.T, texts []string, writers, each int) {
	t.Helper()
	next := make([]int, writers)
	for k, text := range texts {
		var writer, n int
		if _, err := fmt.Sscanf(text, "writer %d message %d", &writer, &n); err != nil || writer >= writers {
			t.Fatalf("message %d is %q", k, text)
		}
		if n != next[writer] {
			t.Fatalf("message %d is %q, expected message %d of that writer", k, text, next[writer])
		}
		next[writer]++
	}
	for writer, n := range next {
		if n != each {
			t.Errorf("of writer %d there are %d messages, expected %d", writer, n, each)
		}
	}
}

// TestCompanyAppend appends to one session from eight processes at once.
func TestCompanyAppend(t *testing.T) {
	t.Parallel()
	const writers = 8
	each := 5
	if soaking() {
		each = 1000
	}
	r := newRepository(t)
	start := time.Now()
	inParallel(writers, func(writer int) {
		for n := range each {
			if o := r.try("", "git-domarkx", "append", "--new", "-m", fmt.Sprintf("writer %d message %d", writer, n), "s"); o.code != 0 {
				t.Errorf("%s", o)
				return
			}
		}
	})
	t.Logf("%d appends in %s", writers*each, time.Since(start).Round(time.Millisecond))
	if t.Failed() {
		return
	}
	expectWriters(t, r.texts("s"), writers, each)
	r.sound()
	r.noScraps()
}

// TestCompanyCollection runs Git's garbage collection while other processes write, read,
// push and pull sessions.
func TestCompanyCollection(t *testing.T) {
	t.Parallel()
	collections := [][]string{{"gc", "--prune=now", "-q"}, {"repack", "-adq"}, {"pack-refs", "--all", "--prune"}}
	if soaking() { // gc runs these, too, but less often
		collections = append(collections, []string{"prune", "--expire=now"}, []string{"repack", "-Adq", "--unpack-unreachable=now"},
			[]string{"maintenance", "run", "--task=loose-objects", "--quiet"})
	}
	for _, collect := range collections {
		t.Run(strings.Join(collect[:2], " "), func(t *testing.T) {
			t.Parallel()
			each := 3
			if soaking() {
				each = 500
			}
			root := newSite(t)
			root.git("init", "-q", "--bare", "origin.git")
			root.git("clone", "-q", "origin.git", "here")
			root.git("clone", "-q", "origin.git", "there")
			r, there := root.at("here"), root.at("there")
			r.git("commit", "-q", "--allow-empty", "-m", "Begin")
			ctx, stop := context.WithCancel(t.Context())
			var collectors sync.WaitGroup
			for _, in := range []*site{r, there} {
				collectors.Go(func() {
					for ctx.Err() == nil {
						var stderr bytes.Buffer
						cmd := in.command(context.Background(), "git", collect...)
						cmd.Stderr = &stderr
						// Only log an error: an object that disappears meanwhile can
						// abort a collection. The state at the end is what matters.
						if err := cmd.Run(); err != nil && ctx.Err() == nil {
							t.Logf("git %s in %s: %v: %.200s", strings.Join(collect, " "), filepath.Base(in.dir), err, stderr.String())
						}
						if t.Failed() {
							return
						}
					}
				})
			}
			const writers = 2
			var work sync.WaitGroup
			work.Go(func() {
				inParallel(writers, func(writer int) {
					for n := range each {
						r.domarkx("append", "--new", "-m", fmt.Sprintf("writer %d message %d", writer, n), "s")
					}
				})
			})
			work.Go(func() {
				docs := r.under(t).at("docs")
				for n := range (each + 1) / 2 {
					want := map[string]string{}
					for d := range 20 {
						want[fmt.Sprintf("d%d", d)] = document(fmt.Sprintf("d%d v%d", d, n), 8)
						docs.write(fmt.Sprintf("d%d.md", d), want[fmt.Sprintf("d%d", d)])
					}
					r.domarkx("import", "docs")
					r.inside(func(in inside) {
						for name, text := range want {
							if got := in.show(name); got != text {
								t.Errorf("%s reads %.200q", name, got)
							}
						}
					})
				}
			})
			work.Go(func() {
				for n := range (each + 1) / 2 {
					there.domarkx("append", "--new", "-m", fmt.Sprintf("there %d", n), "theirs")
					there.domarkx("push", "origin", "theirs")
					r.domarkx("pull", "origin", "theirs")
					if got := r.texts("theirs"); len(got) != n+1 {
						t.Errorf("after %d pulls there are %d messages", n+1, len(got))
					}
				}
			})
			work.Wait()
			stop()
			collectors.Wait()
			if t.Failed() {
				return
			}
			expectWriters(t, r.texts("s"), writers, each)
			r.sound()
			there.intact()
			r.noScraps()
		})
	}
}

// TestCompanyUpdateRef moves session references with plain Git meanwhile, as a script or
// an older program might do. No update may be lost.
func TestCompanyUpdateRef(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.domarkx("append", "--new", "-m", "writer 0 message 0", "s")
	const each = 20
	inParallel(2, func(i int) {
		for n := range each {
			if i == 0 {
				r.domarkx("append", "--new", "-m", fmt.Sprintf("writer 0 message %d", n+1), "s")
			} else {
				r.git("update-ref", "--create-reflog", fmt.Sprintf("refs/domarkx/sessions/copy%d", n), r.tip("s"))
			}
		}
	})
	expectWriters(t, r.texts("s"), 1, each+1)
	r.sound()
}

// TestCompanyMount checks that a mount shows changes by other processes immediately.
func TestCompanyMount(t *testing.T) {
	needFUSE(t)
	t.Parallel()
	r := newRepository(t)
	m := mountAt(t, r, filepath.Join(t.TempDir(), "mnt"))
	names := func() string {
		entries, err := os.ReadDir(m.path("sessions"))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	for n := range 3 {
		name := fmt.Sprintf("s%d", n)
		if _, err := os.Stat(m.path("sessions/" + name + ".md")); !os.IsNotExist(err) {
			t.Errorf("before the import: %v", err)
		}
		for version := range 3 {
			want := document(fmt.Sprintf("%s v%d", name, version), 2+version)
			r.write("in/"+name+".md", want)
			r.domarkx("import", "in/"+name+".md")
			if got := m.read("sessions/" + name + ".md"); got != want {
				t.Fatalf("right after the import the mount shows %q", got)
			}
			if info, err := os.Stat(m.path("sessions/" + name + ".md")); err != nil || info.Size() != int64(len(want)) {
				t.Errorf("the size is %v, %v, expected %d", info.Size(), err, len(want))
			}
			m.read(fmt.Sprintf("snapshots/%s/latest.md", name))
		}
		if !strings.Contains(names(), name+".md") {
			t.Errorf("the directory lists %q", names())
		}
		r.domarkx("append", "--new", "-m", "appended outside", name)
		if got := m.read("sessions/" + name + ".md"); !strings.Contains(got, "appended outside") {
			t.Errorf("right after the append the mount shows %q", got)
		}
	}
	r.domarkx("rm", "s0")
	r.domarkx("rename", "s1", "moved/s1")
	if got := names(); strings.Contains(got, "s0.md") || strings.Contains(got, "s1.md") || !strings.Contains(got, "moved") {
		t.Errorf("after rm and rename the directory lists %q", got)
	}
	m.end()
	r.sound()
}

// TestCompanySaveOver saves in the mount after another process changed the session that
// the editor had read. Either the session ends with both changes, or an error preserves
// the saved text.
func TestCompanySaveOver(t *testing.T) {
	t.Parallel()
	needFUSE(t)
	// Each function reads the file, waits for the other change, and saves.
	ways := map[string]string{
		"in place":          `cat "$f" >"$t/base"; go; cat "$t/new" >"$f"`,
		"renamed":           `cat "$f" >"$t/base"; go; cat "$t/new" >"$f.tmp~" && mv "$f.tmp~" "$f"`,
		"renamed elsewhere": `cat "$f" >"$t/base"; go; cp "$t/new" "$f.sb-1234" && sync "$f.sb-1234" && mv "$f.sb-1234" "$f"`,
		"backup":            `cat "$f" >"$t/base"; go; mv "$f" "$f~"; cat "$t/new" >"$f"; rm "$f~"`,
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			r.write("s.md", document("s", 6))
			r.domarkx("import", "s.md")
			m := mountAt(t, r, filepath.Join(t.TempDir(), "mnt"))
			scratch := t.TempDir()
			r.write(filepath.Join(scratch, "new"), strings.Replace(r.read("s.md"), "message 2:", "message 2, changed in the editor:", 1))
			script := `f=$1 t=$2; go() { echo ready; read -r line; }; ` + way
			editor := r.command(t.Context(), "sh", "-c", script, "sh", m.path("sessions/s.md"), scratch)
			in, err := editor.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var said lockedBuffer
			editor.Stdout, editor.Stderr = &said, &said
			editor.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell starts a job
			if err := editor.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the editor has read", func() bool { return strings.Contains(said.String(), "ready") })
			r.domarkx("append", "--new", "-m", "appended meanwhile", "s")
			fmt.Fprintln(in, "go on")
			err = editor.Wait()
			keeps := func() bool {
				shown := r.domarkx("show", "s")
				if !strings.Contains(shown, "appended meanwhile") {
					t.Fatalf("the save overwrote the change: %q", shown)
				}
				if strings.Contains(shown, "changed in the editor") {
					return true
				}
				mark, readErr := os.ReadFile(m.path("errors/s.md"))
				return readErr == nil && strings.Contains(string(mark), "changed in the editor")
			}
			eventually(t, fmt.Sprintf("both changes are there (editor: %v %s)", err, said.String()), keeps)
			if got := m.read("sessions/s.md"); !strings.Contains(got, "changed in the editor") {
				t.Errorf("the file lost what was saved: %q", got)
			}
			m.end()
			r.sound()
		})
	}
}
