//go:build linux

package fusefs_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

const doc = "## user\n\nhello\n"

func TestWaysOfSaving(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	script := func(s string) func(m *mount) { return func(m *mount) { m.sh(s) } }
	tests := map[string]struct {
		way  func(m *mount)
		want string // of the next snapshot
	}{
		"truncate and write":     {script(`printf 'new\n' > s.md`), "new\n"},
		"append":                 {script(`printf 'more\n' >> s.md`), doc + "more\n"},
		"sed -i":                 {script(`sed -i s/hello/goodbye/ s.md`), "## user\n\ngoodbye\n"},
		"cp over":                {script(`printf x > $T/copied; cp $T/copied s.md`), "x"},
		"mv over from outside":   {script(`printf y > $T/other; mv $T/other s.md`), "y"},
		"temporary and rename":   {script(`printf z > .s.md.tmp; mv .s.md.tmp s.md`), "z"},
		"temporary session name": {script(`printf z > s.tmp.md; mv s.tmp.md s.md`), "z"},
		"hard link":              {script(`printf l > s.new; ln s.md s.old; rm s.md; ln s.new s.md; rm s.new s.old`), "l"},
		"dd in place":            {script(`printf HELLO | dd of=s.md bs=1 seek=9 conv=notrunc,fsync status=none`), "## user\n\nHELLO\n"},
		"truncate":               {script(`truncate -s 8 s.md`), "## user\n"},
		"several writes":         {script(`(echo a; sleep 0.1; echo b; sleep 0.1; echo c) > s.md`), "a\nb\nc\n"},
		"several saves":          {script(`echo a > s.md; echo b > s.md; echo c > s.md`), "c\n"},
		"backup and new file":    {script(`mv s.md s.md~; printf v > s.md; rm s.md~`), "v"},
		"remove and make again":  {script(`rm s.md; printf w > s.md`), "w"},
		"mmap": {script(`python3 -c '
import mmap
f = open("s.md", "r+b"); m = mmap.mmap(f.fileno(), 0); m[9:14] = b"mmaps"; m.flush(); f.close(); m[0:1] = b"$"; m.close()'`), "$# user\n\nmmaps\n"},
		"python": {script(`python3 -c 'open("s.md", "w").write("py\n")'`), "py\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := strings.ReplaceAll(name, " ", "-")
			m := *m
			m.TB, m.below = t, dir
			m.outside(dir+"/s", doc)
			if got := m.read("sessions/" + dir + "/s.md"); got != doc {
				t.Fatalf("reads %q", got)
			}
			tt.way(&m)
			if got := m.read("sessions/" + dir + "/s.md"); got != tt.want {
				t.Errorf("reads back %q, want %q", got, tt.want)
			}
			m.expect(dir+"/s", doc, tt.want)
			if got := m.read("sessions/" + dir + "/s.md"); got != tt.want {
				t.Errorf("reads back %q after the snapshot, want %q", got, tt.want)
			}
			if got, err := m.store.List(t.Context(), dir+"/"); err != nil || len(got) != 1 {
				t.Errorf("sessions are %v, %v", got, err)
			}
			if got := m.sh("ls -A"); got != "s.md\n" {
				t.Errorf("left behind: %q", got)
			}
			// The other ways may have left errors that end with their next step.
			if got := m.sh("ls -A $M/errors"); slices.Contains(strings.Fields(got), dir) {
				t.Errorf("errors: %q", got)
			}
		})
	}
}

func TestSnapshotWithinASecond(t *testing.T) {
	m := mounted(t)
	fastest := time.Hour
	for n := 0; n < 5 && fastest > time.Second; n++ { // this machine may have other work
		name, start := fmt.Sprint("new", n), time.Now()
		m.save("sessions/"+name+".md", doc)
		m.eventually("a snapshot", func() bool { return m.stored(name) != nil })
		fastest = min(fastest, time.Since(start))
		m.expect(name, doc)
	}
	if fastest > time.Second {
		t.Errorf("it took %v", fastest)
	}
}

func TestUnchangedBytesMakeNoSnapshot(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("s", doc)
	m.sh(`cat s.md > $T/c; cat $T/c > s.md; touch s.md; sed -i s/zzz/y/ s.md`)
	m.expect("s", doc)
	if got := m.read("sessions/s.md"); got != doc {
		t.Errorf("reads %q", got)
	}
}

func TestEmptyForAMomentIsNoSnapshot(t *testing.T) {
	m := mounted(t)
	m.outside("s", doc)
	m.sh(`: > s.md; sleep 0.3; echo a > s.md`)
	m.expect("s", doc, "a\n")
	m.sh(`: > s.md`)
	m.expect("s", doc, "a\n", "")
}

func TestFilesAndDirectories(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.sh(`mkdir -p a/b; printf 1 > a/b/c.md; cp a/b/c.md d.md; mv d.md e.md; ls -d a/b`)
	if got := m.sessions(); got != "a/b/c e" {
		t.Fatalf("sessions are %q", got)
	}
	m.sh(`mv a f; cat f/b/c.md; mv e.md f/e.md`)
	if got := m.sessions(); got != "f/b/c f/e" {
		t.Fatalf("sessions are %q", got)
	}
	if got := m.sh(`find . | sort`); got != ".\n./f\n./f/b\n./f/b/c.md\n./f/e.md\n" {
		t.Errorf("find: %q", got)
	}
	m.sh(`rm -r f`)
	if got := m.sessions(); got != "" {
		t.Errorf("sessions are %q", got)
	}
	if got := m.sh(`ls -A`); got != "" {
		t.Errorf("ls: %q", got)
	}
	trash, err := m.store.Trash()
	if err != nil || strings.Join(trash, " ") != "f/b/c f/e" {
		t.Errorf("trash is %q, %v", trash, err)
	}
	for _, tt := range []struct{ script, want string }{
		{`echo x > 'a b.md'`, "Invalid argument"},
		{`echo x > s.md.md`, "Invalid argument"},
		{`mkdir x.md`, "Invalid argument"},
		{`echo x > s.md; echo y > S.md`, "File exists"},
		{`mkdir s; echo x > s/t.md`, "File exists"},
		{`ln -s x l.md`, "Operation not permitted"},
		{`ln s.md t.md`, "Operation not permitted"},
		{`mkfifo p`, "Operation not permitted"},
	} {
		if out, err := m.trySh(tt.script); err == nil || !strings.Contains(out, tt.want) {
			t.Errorf("%s: %q, %v", tt.script, out, err)
		}
	}
}

func TestRenames(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("a", "1")
	m.outside("b", "2")
	m.sh(`mv a.md b.md`)
	m.expect("b", "2", "1")
	if got := m.sessions(); got != "b" {
		t.Errorf("sessions are %q", got)
	}
	m.sh(`mv b.md c.md`)
	m.expect("c", "2", "1")
	m.sh(`mv c.md c.bak`)
	if got := m.sessions(); got != "c" {
		t.Errorf("sessions are %q: a scratch name removes nothing", got)
	}
	if out := m.sh(`ls -A; cat c.bak`); out != "c.bak\n1" {
		t.Errorf("ls: %q", out)
	}
	m.sh(`mv c.bak c.md`)
	m.expect("c", "2", "1")
	m.sh(`mv c.md c.bak; rm c.bak`)
	if got := m.sessions(); got != "" {
		t.Errorf("sessions are %q", got)
	}
}

func TestFilesBesideSessionsAndTheMount(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.sh(`mkdir .dir plain; echo 1 > .dir/s.md; echo 2 > x.txt; ln x.txt y; ln -s nowhere l; chmod 600 x.txt; chown 0:0 x.txt
		touch -d 2001-02-03 x.txt; dd if=/dev/zero of=big bs=1M count=3 status=none; truncate -s 5G sparse.tmp
		! truncate -s 5G sparse; rm sparse`)
	if got := m.sh(`stat -c '%a %h %s %y' x.txt; readlink l; stat -c %s big sparse.tmp; cat .dir/s.md`); !strings.HasPrefix(got, "600 2 2 2001-02-03") ||
		!strings.HasSuffix(got, "nowhere\n3145728\n5368709120\n1\n") {
		t.Errorf("stat: %q", got)
	}
	m.stop()
	m.start()
	if got := m.sh(`ls -A; cat x.txt; stat -c %s big`); got != "big\nx.txt\n2\n3145728\n" {
		t.Errorf("what is there again: %q", got)
	}
	m.sh(`rm big x.txt`)
	m.stop()
	m.start()
	if got := m.sh(`ls -A`); got != "" {
		t.Errorf("ls: %q", got)
	}
	if got := m.sessions(); got != "" {
		t.Errorf("sessions are %q", got)
	}
}

func TestOutsideChangesShowAtOnce(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	for _, content := range []string{"one", "three", "two", ""} {
		m.outside("x/s", content)
		if got := m.read("sessions/x/s.md"); got != content {
			t.Fatalf("reads %q, want %q", got, content)
		}
		if info, err := os.Stat(m.path("sessions/x/s.md")); err != nil || info.Size() != int64(len(content)) {
			t.Fatalf("stat: %v, %v", info, err)
		}
	}
	before, err := os.Open(m.path("sessions/x/s.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	if err := m.store.Remove(t.Context(), "x/s"); err != nil {
		t.Fatal(err)
	}
	if got := m.sh(`ls`); got != "" {
		t.Errorf("ls: %q", got)
	}
}
