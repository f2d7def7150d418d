package integration_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// versioned makes a session with calls that leave files of the given size, from a month ago and before.
func (s *site) versioned(name string, calls, size int) {
	s.tb.Helper()
	s.write(name+".md", worked)
	s.domarkx("import", name+".md")
	s.domarkx("trust", name)
	for k := range calls {
		s.must("", "sh", "-c", fmt.Sprintf(`GIT_COMMITTER_DATE="@$(($(date +%%s) - %d * 2592000)) +0000" git-domarkx exec --yes %s sh run_command "command=head -c %d /dev/urandom >big; echo %d >>notes"`,
			calls-k, name, size, k))
	}
}

// TestFaultKillExpire kills expiries. Each time all versions have their files, or none but the first and last; the session is what it
// was, and the next expiry completes the rest.
func TestFaultKillExpire(t *testing.T) {
	t.Parallel()
	r, random := newRepository(t), newRandom(t)
	number := 0
	begin := func() string {
		number++
		name := fmt.Sprint("s", number)
		r.versioned(name, 4, 20000)
		return name
	}
	command := []string{"gc", "--expire-versions=15d"}
	takes := typical(func() {
		begin()
		r.domarkx(command...)
	}) / 8
	fast := 9
	if testing.Short() {
		fast = 3
	}
	olds, news := 0, 0
	for i := range rounds(t, fast) {
		name := begin()
		text := r.domarkx("show", name)
		r.killed(moment(random, takes), i%killWays, command...)
		switch expired := strings.Count(r.domarkx("workspace", "log", name), "files expired on"); expired {
		case 0:
			olds++
		case 2:
			news++
		default:
			t.Fatalf("round %d: %d versions are without files", i, expired)
		}
		r.sound("round", i)
		r.domarkx(command...)
		if expired := strings.Count(r.domarkx("workspace", "log", name), "files expired on"); expired != 2 || r.domarkx("show", name) != text {
			t.Fatalf("round %d: after another expiry %d versions are without files, or the session is another one", i, expired)
		}
		r.domarkx("exec", "--yes", name, "sh", "run_command", "command=cat notes")
		r.sound("round", i)
	}
	t.Logf("%d expiries were undone, %d done", olds, news)
}

// TestFaultDiskExpire lets versions expire on a disk that is full but for what their small remains need: that frees the rest.
func TestFaultDiskExpire(t *testing.T) {
	t.Parallel()
	r := newDisk(t, "tmpfs", "size=24m")
	r.versioned("s", 8, 1<<20)
	r.domarkx("search", "big") // an index, which can be made again
	text := r.domarkx("show", "s")
	used := func() int64 {
		var n int64
		fmt.Sscan(r.must("", "du", "-sk", ".git/objects"), &n)
		return n
	}
	before, failed := used(), 0
	for step := 0; ; step++ {
		free := r.fill(int64(step) * 16 << 10)
		o := r.try("", "git-domarkx", "gc", "--expire-versions=15d")
		free()
		r.sound("step", step)
		if r.domarkx("show", "s") != text {
			t.Fatalf("step %d: the session is another one", step)
		}
		if o.code == 0 {
			break
		}
		if failed++; !strings.Contains(strings.ToLower(o.err), "no space left") || step == 40 {
			t.Fatalf("step %d: %s", step, o)
		}
	}
	t.Logf("%d expiries failed for lack of space; %d kB became %d", failed, before, used())
	if now := used(); now > before/2 {
		t.Errorf("%d kB before, %d after", before, now)
	}
	left, err := os.ReadDir(r.path(".git/objects/pack"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "tmp_") {
			t.Errorf("%s is left", e.Name())
		}
	}
}
