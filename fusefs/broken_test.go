//go:build linux

package fusefs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/internal/storetest"
)

func TestABrokenSaveLosesNothing(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("x/s", doc)
	bad := doc + "and " + storetest.Broken + "\n"
	m.sh(`printf '` + bad + `' > x/s.md`)
	m.expect("x/s", doc)
	check := func() {
		t.Helper()
		if got := m.read("sessions/x/s.md"); got != bad {
			t.Errorf("reads back %q", got)
		}
		m.eventually("errors/ says so", func() bool { return m.sh(`ls ../errors`) == "x\n" })
		got := m.read("errors/x/s.md")
		if !strings.Contains(got, "x/s.md:4:5: it is broken") || !strings.HasSuffix(got, bad) {
			t.Errorf("errors/x/s.md: %q", got)
		}
		found, err := drafts.List(filepath.Join(m.dir, "drafts"))
		if err != nil || len(found) != 1 || found[0].Name != "x/s" || string(found[0].Data) != bad || found[0].State != drafts.Broken {
			t.Errorf("drafts: %+v, %v", found, err)
		}
		m.expect("x/s", doc)
	}
	check()
	m.stop()
	m.start()
	check()
	m.kill()
	m.start()
	check()
	m.sh(`sed -i s/BROKEN/mended/ x/s.md`)
	m.expect("x/s", doc, doc+"and mended\n")
	if got := m.sh(`ls ../errors`); got != "" {
		t.Errorf("errors/ has %q", got)
	}
	if found, err := drafts.List(filepath.Join(m.dir, "drafts")); err != nil || len(found) != 0 {
		t.Errorf("drafts: %+v, %v", found, err)
	}
}

func TestANewSessionThatIsBroken(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.save("sessions/n.md", storetest.Broken)
	m.eventually("errors/ says so", func() bool { return m.sh(`ls ../errors`) == "n.md\n" })
	if got := m.sessions(); got != "" {
		t.Errorf("sessions are %q", got)
	}
	if out, err := m.trySh(`rm ../errors/n.md`); err == nil || !strings.Contains(out, "busy") {
		t.Errorf("rm of what would leave nothing: %q, %v", out, err)
	}
	m.sh(`mv n.md o.md; ls ../errors`)
	m.eventually("errors/ follows", func() bool { return m.sh(`ls ../errors`) == "o.md\n" })
	m.sh(`rm o.md`)
	if got := m.sh(`ls . ../errors`); got != ".:\n\n../errors:\n" {
		t.Errorf("ls: %q", got)
	}
	m.stop()
	m.start()
	if got := m.sh(`ls . ../errors`); got != ".:\n\n../errors:\n" {
		t.Errorf("ls after a restart: %q", got)
	}
}

func TestABrokenSaveCanBeForgotten(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("s", doc)
	m.save("sessions/s.md", storetest.Broken)
	m.eventually("errors/ says so", func() bool { return m.sh(`ls ../errors`) == "s.md\n" })
	m.outside("s", doc+"mended elsewhere\n")
	if got := m.read("sessions/s.md"); got != storetest.Broken {
		t.Errorf("reads back %q", got)
	}
	m.sh(`rm ../errors/s.md`)
	if got := m.read("sessions/s.md"); got != doc+"mended elsewhere\n" {
		t.Errorf("reads %q", got)
	}
	m.stop()
	m.start()
	if got := m.sh(`ls ../errors; cat s.md`); got != doc+"mended elsewhere\n" {
		t.Errorf("after a restart: %q", got)
	}
}

func TestAStoreThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("s", doc)
	full := filepath.Join(m.dir, "store", storetest.Full)
	if err := os.WriteFile(full, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.save("sessions/s.md", "new\n")
	m.eventually("errors/ says so", func() bool { return m.sh(`ls ../errors`) == "s.md\n" })
	if got := m.read("errors/s.md"); !strings.Contains(got, "no space left") {
		t.Errorf("errors/s.md: %q", got)
	}
	if got := m.read("sessions/s.md"); got != "new\n" {
		t.Errorf("reads back %q", got)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	m.expect("s", doc, "new\n")
	m.eventually("errors/ is empty", func() bool { return m.sh(`ls ../errors`) == "" })
}
