//go:build linux

package fusefs_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/fusefs/sessions"
)

// TestFilesSurviveRemounts does what programs do with sessions and other files, in any order, while the mount ends now
// and then, with and without warning. Each file always has its last content, and nothing comes back.
func TestFilesSurviveRemounts(t *testing.T) {
	slow(t)
	runs := 2
	if os.Getenv("SOAK") != "" {
		runs = 40
	}
	for run := range runs {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			u := &user{mount: mounted(t), Rand: rand.New(rand.NewPCG(seed, 1)), files: map[string]string{}, open: map[string]*os.File{}}
			for round := range 6 {
				for step := range 4 + u.IntN(20) {
					u.act(fmt.Sprintf("<%d.%d>", round, step))
					if u.IntN(6) == 0 {
						time.Sleep(time.Duration(u.IntN(900)) * time.Millisecond)
					}
				}
				u.compare()
				u.remount()
				u.compare()
			}
		})
	}
}

// A user works in the directory of sessions, and remembers what each file has to contain.
type user struct {
	*mount
	*rand.Rand
	files map[string]string
	open  map[string]*os.File // of programs that keep them open
	log   []string
}

var userNames = []string{"a.md", "b.md", "x/c.md", "x/y/d.md", "z/c.md", "z/y/d.md", "e.txt", "x/f.txt", "z/f.txt", "g.png", "x/h.png", "i~", "x/.j.swp"}

func (u *user) in(name string) string { return filepath.Join(u.path("sessions"), name) }

func (u *user) must(err error) {
	u.Helper()
	if err != nil {
		u.Fatalf("%v\nafter %q", err, u.log)
	}
}

// act does one step.
func (u *user) act(text string) {
	n, to := userNames[u.IntN(len(userNames))], userNames[u.IntN(len(userNames))]
	_, there := u.files[n]
	note := func(format string, args ...any) { u.log = append(u.log, fmt.Sprintf(format, args...)) }
	parents := func() {
		u.must(os.MkdirAll(filepath.Dir(u.in(n)), 0o755))
		u.must(os.MkdirAll(filepath.Dir(u.in(to)), 0o755))
	}
	switch u.IntN(9) {
	case 0, 1:
		parents()
		note("save %s", n)
		u.must(os.WriteFile(u.in(n), []byte(text), 0o644))
		u.files[n] = text
	case 2:
		parents()
		note("empty %s", n)
		u.must(os.WriteFile(u.in(n), nil, 0o644))
		u.files[n] = ""
	case 3:
		parents()
		note("append %s", n)
		f, err := os.OpenFile(u.in(n), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		u.must(err)
		_, err = f.WriteString(text)
		u.must(cmp.Or(err, f.Close()))
		u.files[n] += text
	case 4:
		if there {
			note("rm %s", n)
			u.must(os.Remove(u.in(n)))
			delete(u.files, n)
			u.close(n)
		}
	case 5, 6:
		_, isSession := sessions.SessionOf(n)
		_, remains := sessions.SessionOf(to)
		if there && n != to && (remains || !isSession) { // a session that moves away stays in the store
			parents()
			note("mv %s %s", n, to)
			u.must(os.Rename(u.in(n), u.in(to)))
			u.close(to)
			move(u.files, n, to)
			move(u.open, n, to)
		}
	case 7:
		from, to := "x", "z"
		if u.IntN(2) == 0 {
			from, to = to, from
		}
		_, errFrom := os.Stat(u.in(from))
		if _, errTo := os.Stat(u.in(to)); errFrom == nil && errTo != nil {
			note("mv %s %s", from, to)
			u.must(os.Rename(u.in(from), u.in(to)))
			for _, n := range slices.Collect(maps.Keys(u.files)) { // also names that only an earlier move gave
				if rest, ok := strings.CutPrefix(n, from+"/"); ok {
					move(u.files, n, to+"/"+rest)
					move(u.open, n, to+"/"+rest)
				}
			}
		}
	case 8:
		if f := u.open[n]; f != nil {
			note("overwrite %s", n)
			_, err := f.WriteAt([]byte(text), 0)
			u.must(cmp.Or(err, f.Sync()))
			u.files[n] = text + u.files[n][min(len(text), len(u.files[n])):]
			u.close(n)
		} else if there {
			note("open %s", n)
			var err error
			u.open[n], err = os.OpenFile(u.in(n), os.O_RDWR, 0)
			u.must(err)
		}
	}
}

func move[V any](m map[string]V, from, to string) {
	if v, ok := m[from]; ok {
		delete(m, from)
		m[to] = v
	}
}

func (u *user) close(name string) {
	if f := u.open[name]; f != nil {
		u.must(f.Close())
		delete(u.open, name)
	}
}

// remount ends the mount, in one of two ways, and mounts again. The files of editors are gone then.
func (u *user) remount() {
	for _, n := range slices.Collect(maps.Keys(u.open)) {
		u.close(n)
	}
	if u.IntN(3) == 0 {
		u.log = append(u.log, "kill")
		u.kill()
	} else {
		u.log = append(u.log, "unmount")
		u.stop()
	}
	u.start()
	maps.DeleteFunc(u.files, func(n, _ string) bool { return sessions.IsScratch(n) })
}

func (u *user) compare() {
	u.Helper()
	got := map[string]string{}
	u.must(filepath.WalkDir(u.path("sessions"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			name, _ := filepath.Rel(u.path("sessions"), p)
			got[name] = u.read(filepath.Join("sessions", name))
		}
		return err
	}))
	if !maps.Equal(got, u.files) {
		u.Fatalf("the mount has %q, want %q\nafter %q; the mount says %s", got, u.files, u.log, u.stderr)
	}
}
