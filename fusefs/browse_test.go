//go:build linux

package fusefs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestSnapshotsShow(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	if got := m.read("README.md"); !strings.Contains(got, "sessions/<name>.md") {
		t.Errorf("README.md: %q", got)
	}
	one := m.outside("a/b", "## user\n\none\n")
	two := m.outside("a/b", "## user\n\none\n\n## assistant\n\ntwo\n")
	first, second := "0001-"+one.ID, "0002-"+two.ID
	m.sh(`cd ..; test "$(ls snapshots messages)" = "messages:
a

snapshots:
a"`)
	if got, want := m.sh(`cd ../snapshots/a/b; ls`), first+".json\n"+first+".md\n"+second+".json\n"+second+".md\nlatest.json\nlatest.md\n"; got != want {
		t.Errorf("ls: %q, want %q", got, want)
	}
	if got := m.sh(`cd ../snapshots/a/b; cat ` + first + `.md; readlink latest.md latest.json; cat latest.md; cat latest.json; wc -c <latest.json; stat -Lc %s latest.json`); got !=
		"## user\n\none\n"+second+".md\n"+second+".json\n## user\n\none\n\n## assistant\n\ntwo\n"+`{"text":"## user\n\none\n\n## assistant\n\ntwo\n"}`+"50\n50\n" {
		t.Errorf("cat: %q", got)
	}
	three := m.outside("a/b", "## user\n\nthree\n")
	if got := m.sh(`cd ../snapshots/a/b; readlink latest.md; cat latest.md`); got != "0003-"+three.ID+".md\n## user\n\nthree\n" {
		t.Errorf("latest: %q", got)
	}
	for _, script := range []string{
		`echo x > ../snapshots/a/b/` + first + `.md`, `rm ../snapshots/a/b/latest.md`, `touch ../snapshots/x`, `mkdir ../messages/x`,
		`rm ../README.md`, `touch ../x`, `echo x > ../messages/a/b/0000-user/message.md`, `mv ../snapshots/a ../snapshots/b`,
	} {
		if out, err := m.trySh(script); err == nil {
			t.Errorf("%s: %q", script, out)
		}
	}
	for _, name := range []string{"0001-" + two.ID + ".md", "1-" + one.ID + ".md", first, "0001-.md", "latest", first + ".txt", "c"} {
		if _, err := os.Stat(m.path("snapshots/a/b/" + name)); !os.IsNotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.sh(`mv a/b.md c.md`)
	if got := m.sh(`cd ../snapshots; ls; ls c | wc -l; test ! -e a; cat c/` + first + `.md`); got != "c\n8\n## user\n\none\n" {
		t.Errorf("after a rename: %q", got)
	}
}

func TestMessagesShow(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("s", "## user\n\none\n\n## assistant\n\ntwo\n")
	if got := m.sh(`cd ../messages/s; ls; ls 0001-assistant; cat 0000-user/message.md; cat 0001-assistant/message.json; stat -c %s 0001-assistant/message.md`); got !=
		"0000-user\n0001-assistant\nmessage.json\nmessage.md\n## user\n\none\n\n"+`{"text":"## assistant\n\ntwo\n\n"}`+"19\n" {
		t.Errorf("messages: %q", got)
	}
	m.outside("s", "## user\n\nuno\n")
	if got := m.sh(`cd ../messages/s; ls; cat 0000-user/message.md`); got != "0000-user\n## user\n\nuno\n\n" {
		t.Errorf("messages: %q", got)
	}
	for _, name := range []string{"0001-assistant", "0000-assistant", "0-user", "00000-user", "0000-", "x"} {
		if _, err := os.Stat(m.path("messages/s/" + name)); !os.IsNotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestManyMessages(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	var b strings.Builder
	for k := range 100_000 {
		fmt.Fprintf(&b, "## user\n\n%d\n\n", k)
	}
	m.outside("s", b.String())
	if got := m.sh(`cd ../messages/s; ls -f | wc -l; cat 99999-user/message.md; ls | tail -n 1`); got != "100000\n## user\n\n99999\n\n\n99999-user\n" {
		t.Errorf("messages: %q", got)
	}
}

func TestInodeNumbersStay(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("a/s", doc)
	m.outside("b", doc)
	const list = `cd ..; ls -i README.md; ls -di sessions sessions/a sessions/a/s.md sessions/b.md snapshots/b messages/b/0000-user messages/b/0000-user/message.md`
	was := m.sh(list)
	if got := m.sh(list); got != was {
		t.Errorf("inodes are %s, were %s", got, was)
	}
	if got := m.sh(`cd ..; ls -i sessions | awk '{print $1}' ; stat -c %i sessions/a sessions/b.md`); got == "" || strings.Count(got, "\n") != 4 || got[:len(got)/2] != got[len(got)/2:] {
		t.Errorf("a listing and stat differ: %q", got)
	}
	m.stop()
	m.start()
	if got := m.sh(list); got != was {
		t.Errorf("inodes of the next mount are %s, were %s", got, was)
	}
	m.sh(`echo x >> b.md`)
	if got := m.sh(list); strings.Split(got, "\n")[4] != strings.Split(was, "\n")[4] {
		t.Errorf("inodes after a save are %s, were %s", got, was)
	}
	if got := m.sh(`cp b.md c.md; mv b.md b.md~; cp c.md b.md; stat -c %i b.md b.md~ c.md | sort -u | wc -l`); got != "3\n" {
		t.Errorf("%s different inodes of three files", got)
	}
}
