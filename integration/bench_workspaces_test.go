package integration_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// browsed is a session whose workspace is a directory of the repository, so that the same
// files also exist on the native file system.
const browsed = "```yaml workspace-config\nresources:\n  - {type: filesystem, id: fs, path: files}\n```\n"

// browse commits a version of the directory files/ and mounts it. It returns the path of
// the version in the mount.
func (s *site) browse(b *testing.B) (*mounted, string) {
	b.Helper()
	s.write("s.md", browsed)
	s.domarkx("import", "s.md")
	s.domarkx("exec", "--yes", "s", "fs", "list_dir", "path=.")
	m := mountAt(b, s, filepath.Join(b.TempDir(), "mnt"))
	return m, m.path("workspaces/s/latest/fs")
}

// prose appends about n bytes of words to text.
func prose(r *rand.Rand, text []byte, n int) []byte {
	const words = "the quick brown function returns int error nil if for range string struct func package import context value "
	for end := len(text) + n; len(text) < end; {
		at := r.IntN(len(words) - 12)
		text = append(text, words[at:at+4+r.IntN(8)]...)
		if r.IntN(12) == 0 {
			text = append(text, '\n')
		}
	}
	return text
}

// dropCaches empties the kernel's file caches, which requires root. It reports whether it
// succeeded.
func dropCaches() bool {
	if exec.Command("sync").Run() != nil {
		return false
	}
	return os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0) == nil
}

// timed runs a script in a directory and returns how long it took. The script must
// succeed.
func (s *site) timed(b *testing.B, dir, script string) time.Duration {
	b.Helper()
	start := time.Now()
	s.under(b).at(dir).must("", "sh", "-c", script)
	return time.Since(start)
}

// medians runs a script in several directories in turn, each time after prepare, and
// returns the median time for each.
func (s *site) medians(b *testing.B, rounds int, script string, prepare func(), dirs ...string) []time.Duration {
	b.Helper()
	times := make([][]time.Duration, len(dirs))
	for range rounds {
		for i, dir := range dirs {
			prepare()
			times[i] = append(times[i], s.timed(b, dir, script))
		}
	}
	found := make([]time.Duration, len(dirs))
	for i := range dirs {
		found[i] = median(times[i])
	}
	return found
}

// resticMount mounts a restic backup of a directory, or returns "" if restic is not
// installed.
func (s *site) resticMount(b *testing.B, dir string) string {
	b.Helper()
	if _, err := exec.LookPath("restic"); err != nil {
		b.Logf("NOT COMPARED with restic: %v", err)
		return ""
	}
	r := s.under(b).with("RESTIC_PASSWORD=x", "RESTIC_REPOSITORY="+s.path("restic"), "RESTIC_CACHE_DIR="+s.path("restic-cache"))
	r.must("", "restic", "init", "-q")
	r.must("", "restic", "backup", "-q", dir)
	mnt := filepath.Join(b.TempDir(), "restic")
	if err := os.Mkdir(mnt, 0o700); err != nil {
		b.Fatal(err)
	}
	cmd := r.command(b.Context(), "restic", "mount", mnt)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		exec.Command("fusermount3", "-uqz", mnt).Run()
		cmd.Process.Kill()
		cmd.Wait()
	})
	latest := filepath.Join(mnt, "snapshots/latest", dir)
	for range 600 {
		if _, err := os.Stat(latest); err == nil {
			return latest
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.Fatal("restic mounts nothing")
	return ""
}

func BenchmarkBrowse(b *testing.B) {
	needFUSE(b)
	const directories, files = 2000, 30
	s := newRepository(b)
	r := rand.New(rand.NewPCG(1, 2))
	for d := range directories {
		dir := fmt.Sprintf("files/m%02d/d%04d", d%40, d)
		for f := range files {
			s.write(fmt.Sprintf("%s/f%02d.go", dir, f), string(prose(r, nil, 500+r.IntN(1000<<r.IntN(6)))))
		}
	}
	m, version := s.browse(b)
	native := s.path("files")
	restic := s.resticMount(b, native)
	scripts := []struct {
		name, script string
		cold         float64 // the limit
	}{
		{"find", "find . -type f | wc -l", 2}, // its listings have all attributes, which saves the others a message for each file
		{"grep -r", "! grep -r 'no such words' .", 1.5},
		{"tar", "tar -cf - . | wc -c", 1.5},
	}
	forget := func() {
		if !dropCaches() {
			b.Fatal("dropping caches does not work any more")
		}
	}
	const what = "%s over 60,000 files of a version, %s: time, against "
	if dropCaches() {
		for _, c := range scripts {
			times := s.medians(b, 3, c.script, forget, native, version)
			score(b, fmt.Sprintf(what+"the native files", c.name, "cold"), ratio(times[1], times[0]), c.cold, "x")
			if restic != "" {
				slow := s.medians(b, 1, c.script, forget, restic)
				score(b, fmt.Sprintf(what+"restic's mount", c.name, "cold"), ratio(times[1], slow[0]), 1./3, "x")
			}
		}
	} else {
		b.Log("NOT MEASURED: only root can drop the machine's caches")
	}
	for _, c := range scripts {
		s.medians(b, 1, c.script, func() {}, native, version)
		times := s.medians(b, 9, c.script, func() {}, native, version)
		score(b, fmt.Sprintf(what+"the native files", c.name, "warm"), ratio(times[1], times[0]), 1.15, "x")
		if restic != "" {
			s.medians(b, 1, c.script, func() {}, restic)
			slow := s.medians(b, 1, c.script, func() {}, restic)
			score(b, fmt.Sprintf(what+"restic's mount", c.name, "warm"), ratio(times[1], slow[0]), 0.1, "x")
		}
	}
	m.end()
}

// inMemory returns an empty directory on a tmpfs, or "" if the machine has none. A tmpfs
// keeps files in single pages of memory, as FUSE does on any disk.
func inMemory(b *testing.B) string {
	dir, err := os.MkdirTemp("/dev/shm", "git-domarkx-bench-")
	if err != nil {
		b.Logf("NOT COMPARED with a tmpfs: %v", err)
		return ""
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func BenchmarkBrowseLarge(b *testing.B) {
	needFUSE(b)
	const size = 200 << 20
	s := newRepository(b)
	r := rand.New(rand.NewPCG(3, 4))
	random := make([]byte, 0, size)
	for len(random) < size {
		n := r.Uint64()
		random = append(random, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), byte(n>>32), byte(n>>40), byte(n>>48), byte(n>>56))
	}
	s.write("files/random", string(random))
	text := prose(r, random[:0], size-16)
	s.write("files/text", string(text))
	for i := range 10 {
		s.write(fmt.Sprintf("files/medium/%d", i), string(text[i*size/20:(i+1)*size/20]))
	}
	m, version := s.browse(b)
	native := s.path("files")
	cold := dropCaches()
	if !cold {
		b.Log("NOT MEASURED: only root can drop the machine's caches")
	}
	// again mounts again, so that nobody has read the large files yet, and reads another
	// file so that the server has started its work.
	again := func() {
		m.end()
		m = mountAt(b, s, m.dir)
		s.timed(b, version, "cat medium/0 >/dev/null")
	}
	// The library takes 0.6 s of CPU to decompress the text, three times as long as a decoder of 500 lines would.
	for name, limit := range map[string]float64{"random": 4, "text": 9} {
		script := "cat " + name + " >/dev/null"
		what := "cat of 200 MB of " + name + " in a version, "
		again()
		if cold {
			times := s.medians(b, 5, script, func() { again(); dropCaches() }, native, version)
			score(b, what+"cold, for the first time: time, against the native file", ratio(times[1], times[0]), limit, "x")
			times = s.medians(b, 5, script, func() { dropCaches() }, native, version)
			score(b, what+"cold, later: time, against the native file", ratio(times[1], times[0]), limit, "x")
		}
		dirs := []string{native, version}
		if memory := inMemory(b); memory != "" {
			s.must("", "cp", filepath.Join(native, name), memory)
			dirs = append(dirs, memory)
		}
		s.medians(b, 1, script, func() {}, dirs...)
		times := s.medians(b, 15, script, func() {}, dirs...)
		score(b, what+"warm: time, against the native file", ratio(times[1], times[0]), 2.5, "x")
		if len(dirs) > 2 {
			score(b, what+"warm: time, against the file on a tmpfs", ratio(times[1], times[2]), 0, "x")
		}
		score(b, what+"warm: rate", size/1e9/times[1].Seconds(), 0, "GB/s")
		s.must("", "cmp", filepath.Join(native, name), filepath.Join(version, name))
	}
	if cold {
		times := s.medians(b, 5, "cat medium/* >/dev/null", func() { dropCaches() }, native, version)
		score(b, "cat of ten files of 10 MB of text in a version, cold: time, against the native files", ratio(times[1], times[0]), 0, "x")
	}
	m.end()
}
