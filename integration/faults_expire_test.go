package integration_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
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
	whole, random := newRepository(t), newRandom(t)
	whole.versioned("s", 4, 20000)
	text := whole.domarkx("show", "s")
	command := []string{"gc", "--expire-versions=15d"}
	var r *site
	takes := typical(func() { r = whole.copied() }, func() { r.domarkx(command...) })
	olds, news := 0, 0
	for i := range rounds(t, 9) {
		r = whole.copied()
		r.killed(moment(random, takes), i%killWays, command...)
		switch expired := strings.Count(r.domarkx("workspace", "log", "s"), "files expired on"); expired {
		case 0:
			olds++
		case 2:
			news++
		default:
			t.Fatalf("round %d: %d versions are without files", i, expired)
		}
		r.intact("round", i)
		r.domarkx(command...)
		if expired := strings.Count(r.domarkx("workspace", "log", "s"), "files expired on"); expired != 2 || r.domarkx("show", "s") != text {
			t.Fatalf("round %d: after another expiry %d versions are without files, or the session is another one", i, expired)
		}
		r.domarkx("exec", "--yes", "s", "sh", "run_command", "command=cat notes")
		r.intact("round", i)
	}
	r.sound("at the end")
	t.Logf("%d expiries were undone, %d done", olds, news)
}

// TestExpireInCompany lets versions expire while another command uses them. That does its work, or says why not and does it when it
// is repeated. Nothing is lost at either side.
func TestExpireInCompany(t *testing.T) {
	t.Parallel()
	random, whole := newRandom(t), newRepository(t)
	whole.versioned("s", 4, 20000)
	text := whole.domarkx("show", "s")
	commands := [][]string{
		{"push", "origin", "s"},
		{"exec", "--yes", "s", "sh", "run_command", "command=echo more >>notes; head -c 20000 /dev/urandom >new"},
		{"replay", "s"},
		{"rewind", "s#1"},
		{"rewind", "s#2"}, // to a version that expires
		{"fork", "s#3", "s-fork"},
		{"checkout", "s#2", "s.out"},
	}
	met := map[string]int{}
	// In a usual run, each once.
	for i := range rounds(t, len(commands)*allKills/usualKills) {
		r, hub := whole.copied(), newSite(t)
		hub.git("init", "-q", "--bare")
		r.git("remote", "add", "origin", hub.dir)
		args := commands[i%len(commands)]
		began := make(chan outcome)
		go func() { began <- r.try("", "git-domarkx", args...) }()
		time.Sleep(moment(random, 200*time.Millisecond))
		expiry := r.try("", "git-domarkx", "gc", "--expire-versions=15d")
		o := <-began
		if expiry.code != 0 {
			t.Errorf("round %d, beside %q: %s", i, args, expiry)
		}
		understood := o.code == 0 || strings.Contains(o.out, "\tdiffers") || strings.Contains(o.err, "expired on") || strings.Contains(o.out+o.err, "changed") || strings.Contains(o.out, "rejected")
		if !understood || strings.Contains(o.err, "corrupt") {
			t.Errorf("round %d: %s", i, o)
		}
		met[fmt.Sprint(args[0], " ", o.code)]++
		r.intact("round", i, args)
		if now := r.shown("s")[0]; args[0] != "exec" && args[0] != "rewind" && now != text {
			t.Errorf("round %d: after %q the session is another one: %q", i, args, now)
		}
		if strings.Contains(o.out, "run git domarkx pull") {
			r.pull("origin")
		}
		if again := r.try("", "git-domarkx", args...); again.code != 0 && !strings.Contains(again.out, "\tdiffers") && !strings.Contains(again.err, "expired on") && !strings.Contains(again.err, "exists") {
			t.Errorf("round %d, again: %s", i, again)
		}
		// What is left goes to another repository as a whole.
		r.domarkx("push", "origin", "s")
		hub.git("fsck", "--full", "--strict")
		other := newRepository(t)
		other.pull(hub.dir)
		if theirs, ours := other.shown("s")[0], r.shown("s")[0]; theirs != ours {
			t.Errorf("round %d: a clone has %q, not %q", i, theirs, ours)
		}
		other.intact("clone of round", i)
		if expired := strings.Count(other.domarkx("workspace", "log", "s"), "files expired on"); expired == 0 {
			t.Errorf("round %d: nothing is expired in a clone", i)
		}
	}
	t.Logf("exit statuses: %v", met)
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
		r.intact("step", step)
		if r.shown("s")[0] != text {
			t.Fatalf("step %d: the session is another one", step)
		}
		if o.code == 0 {
			break
		}
		if failed++; !strings.Contains(strings.ToLower(o.err), "no space left") || step == 40 {
			t.Fatalf("step %d: %s", step, o)
		}
	}
	r.sound("at the end")
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
