package integration_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// waysToSave are the ways in which editors and shells save files. When one returns
// without an error, the content must be durable.
var waysToSave = []struct {
	name string
	save func(path, content string) error
}{
	{"truncate", func(path, content string) error { return os.WriteFile(path, []byte(content), 0o666) }},
	{"truncate and fsync", func(path, content string) error {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
		defer file.Close()
		if _, err := file.WriteString(content); err != nil {
			return err
		}
		return file.Sync()
	}},
	{"rename", func(path, content string) error {
		temporary := path + ".tmp~"
		if err := os.WriteFile(temporary, []byte(content), 0o666); err != nil {
			return err
		}
		return os.Rename(temporary, path)
	}},
	{"in pieces", func(path, content string) error {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
		for len(content) > 0 {
			n := min(len(content), 100)
			if _, err := file.WriteString(content[:n]); err != nil {
				file.Close()
				return err
			}
			content = content[n:]
		}
		return file.Close()
	}},
}

// TestMountFaultKill kills the mount at random moments during saves, and mounts again on
// the same directory.
func TestMountFaultKill(t *testing.T) {
	t.Parallel()
	needFUSE(t)
	for _, way := range waysToSave {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			r, random := newRepository(t), newRandom(t)
			r.write("s.md", document("s", 3))
			r.domarkx("import", "s.md")
			dir := filepath.Join(t.TempDir(), "mnt")
			acknowledged, tried := r.read("s.md"), ""
			number := 0
			for i := range rounds(t, 12) {
				m := mountAt(t, r, dir)
				if got := m.read("sessions/s.md"); got != acknowledged && got != tried {
					t.Fatalf("round %d: after the kill the file reads %.1500q, expected what was acknowledged, %.100q, or tried, %.100q; log:\n%s", i, got, acknowledged, tried, r.domarkx("log", "s"))
				} else {
					acknowledged = got
				}
				var killed sync.WaitGroup
				killed.Go(func() {
					time.Sleep(time.Duration(random.Int64N(int64(40 * time.Millisecond)))) // the random moment of the kill
					m.kill()
				})
				for {
					number++
					tried = document(fmt.Sprintf("%s %d", way.name, number), 3+number%3)
					// Keep other tests from starting a program meanwhile: the child would
					// briefly inherit the file and close it, which acknowledges half a
					// save.
					syscall.ForkLock.RLock()
					err := way.save(m.path("sessions/s.md"), tried)
					syscall.ForkLock.RUnlock()
					if err != nil {
						break
					}
					acknowledged = tried
				}
				killed.Wait()
				if i%4 == 3 { // without a mount, the last save must be present after any command
					m := mountAt(t, r, dir)
					content := m.read("sessions/s.md")
					eventually(t, "the recovered save is a snapshot", func() bool { return r.shown("s")[0] == content })
					m.end()
				}
				r.intact("round", i)
			}
			m := mountAt(t, r, dir)
			m.save("sessions/s.md", "## user\n\nat the end\n")
			eventually(t, "a save is a snapshot", func() bool { return r.domarkx("show", "s") == "## user\n\nat the end\n" })
			m.end()
			noLocks(t, r.path(".git"), "at the end")
			r.sound()
		})
	}
}

// TestMountFaultAcknowledged kills the mount just after it acknowledged a save, before
// the save can become a snapshot.
func TestMountFaultAcknowledged(t *testing.T) {
	needFUSE(t)
	t.Parallel()
	r := newRepository(t)
	r.write("s.md", document("s", 3))
	r.domarkx("import", "s.md")
	dir := filepath.Join(t.TempDir(), "mnt")
	times := 1
	if soaking() {
		times = 5
	}
	for i := range times {
		for _, way := range waysToSave {
			m := mountAt(t, r, dir)
			changed := document(fmt.Sprintf("%s %d", way.name, i), 4)
			broken := fmt.Sprintf("---\nunclosed: [%d\n", i)
			fresh := document(fmt.Sprintf("fresh %d", i), 1)
			for path, text := range map[string]string{"sessions/s.md": changed, "sessions/new/fresh.md": fresh, "sessions/broken.md": broken} {
				if err := os.MkdirAll(filepath.Dir(m.path(path)), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := way.save(m.path(path), text); err != nil {
					t.Fatalf("%s: %v: %s", way.name, err, m.stderr)
				}
			}
			m.kill()
			if err := probe(dir); !errors.Is(err, syscall.ENOTCONN) {
				t.Fatalf("the dead mount answers %v", err)
			}
			r.domarkx("list") // must work despite the dead mount
			m = mountAt(t, r, dir)
			for path, want := range map[string]string{"sessions/s.md": changed, "sessions/new/fresh.md": fresh, "sessions/broken.md": broken} {
				if got := m.read(path); got != want {
					t.Errorf("%s, round %d: %s reads %q after the kill, expected %q", way.name, i, path, got, want)
				}
			}
			if got := m.read("errors/broken.md"); !strings.Contains(got, fmt.Sprintf("unclosed: [%d", i)) {
				t.Errorf("errors/broken.md does not hold what was saved: %q", got)
			}
			eventually(t, "the saves are snapshots", func() bool { return slices.Equal(r.shown("s", "new/fresh"), []string{changed, fresh}) })
			m.end()
		}
	}
	noLocks(t, r.path(".git"), "at the end")
	r.sound()
}

// TestMountFaultOneMount checks that a new mount replaces a dead one instead of covering
// it, and that the program cleans up after a killed background mount.
func TestMountFaultOneMount(t *testing.T) {
	needFUSE(t)
	t.Parallel()
	r := newRepository(t)
	r.domarkx("append", "--new", "-m", "text", "s")
	dir := filepath.Join(t.TempDir(), "mnt")
	mounts := func() (n int) {
		data, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if fields := strings.Fields(line); len(fields) > 4 && (fields[4] == dir || strings.HasPrefix(fields[4], dir+"/")) {
				n++
			}
		}
		return n
	}
	m := mountAt(t, r, dir)
	once := mounts()
	for range 3 {
		m.kill()
		m = mountAt(t, r, dir)
		if n := mounts(); n != once {
			t.Errorf("%d mounts are on the directory, expected %d", n, once)
		}
	}
	m.kill()
	if got := r.domarkx("mount", dir); got != dir+"\n" {
		t.Errorf("mount printed %q", got)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "sessions/s.md")); err != nil {
		t.Error(err)
	}
	if n := mounts(); n != once {
		t.Errorf("%d mounts are on the directory, expected %d", n, once)
	}
	if status := r.domarkx("status"); !strings.Contains(status, dir) {
		t.Errorf("status does not name the mount: %q", status)
	}
	r.domarkx("unmount", dir)
	if n := mounts(); n != 0 {
		t.Errorf("after unmount %d mounts are on the directory", n)
	}
}

// TestMountFaultBusy unmounts while a program uses the mount. The mount must keep
// working.
func TestMountFaultBusy(t *testing.T) {
	needFUSE(t)
	t.Parallel()
	r := newRepository(t)
	r.domarkx("append", "--new", "-m", "text", "s")
	m := mountAt(t, r, filepath.Join(t.TempDir(), "mnt"))
	user := r.command(t.Context(), "sleep", "1000")
	user.Dir = m.path("sessions")
	if err := user.Start(); err != nil {
		t.Fatal(err)
	}
	o := r.try("", "git-domarkx", "unmount", m.dir)
	if o.code == 0 || !strings.Contains(o.err, fmt.Sprint(user.Process.Pid)) {
		t.Errorf("unmounting a busy mount: expected an error that names the process %d: %s", user.Process.Pid, o)
	}
	if got := m.read("sessions/s.md"); !strings.Contains(got, "text") {
		t.Errorf("after the refused unmount the file reads %q", got)
	}
	user.Process.Kill()
	user.Wait()
	m.end()
}

// TestMountFaultWriters changes sessions with commands while others are saved in the
// mount, without kills. All changes must be present in the end.
func TestMountFaultWriters(t *testing.T) {
	needFUSE(t)
	t.Parallel()
	r := newRepository(t)
	m := mountAt(t, r, filepath.Join(t.TempDir(), "mnt"))
	random := rand.New(rand.NewPCG(1, 2))
	delays := make([]time.Duration, 4)
	for i := range delays {
		delays[i] = time.Duration(random.IntN(5)) * time.Millisecond
	}
	const each = 5
	inParallel(4, func(i int) {
		name := fmt.Sprintf("s%d", i)
		for n := range each {
			time.Sleep(delays[i]) // vary the order of the writers
			if i%2 == 0 {
				r.domarkx("append", "--new", "-m", fmt.Sprintf("writer 0 message %d", n), name)
				continue
			}
			file, err := os.OpenFile(m.path("sessions/"+name+".md"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
			if err != nil {
				t.Error(err)
				return
			}
			_, err = fmt.Fprintf(file, "## user\n\nwriter 0 message %d\n", n)
			if err := errors.Join(err, file.Close()); err != nil {
				t.Error(err)
			}
		}
	})
	m.end()
	for i := range 4 {
		texts := r.texts(fmt.Sprintf("s%d", i))
		for k := range texts {
			texts[k] = strings.TrimSpace(texts[k])
		}
		expectWriters(t, texts, 1, each)
	}
	r.sound()
}
