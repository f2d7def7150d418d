//go:build linux

package fusefs_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hanwen/go-fuse/v2/posixtest"
)

// TestPOSIX runs go-fuse's suite in scratch names of sessions/. It does not run beside other tests: the suite opens
// files that programs inherit, so the servers that those start would keep this mount busy.
func TestPOSIX(t *testing.T) {
	m := mounted(t)
	excluded := map[string]string{
		"FcntlFlockLocksFile": "wants a process to be locked out by its own lock, which no file system does (fcntl(2)); go-fuse leaves it out too",
		"XAttr":               "extended attributes are switched off: each write would ask for one",
		"XAttrLarge":          "extended attributes are switched off: each write would ask for one",
	}
	for name, test := range posixtest.All {
		if excluded[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if name == "OpenSymlinkRace" && testing.Short() {
				t.Skip("it replaces a link two thousand times")
			}
			dir := m.path("sessions/" + name)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			test(t, dir)
		})
	}
	if got := m.sessions(); got != "" {
		t.Errorf("sessions are %q", got)
	}
}

// TestVerifiedWrites needs Debian's package fio.
func TestVerifiedWrites(t *testing.T) {
	slow(t)
	m := mounted(t)
	for _, name := range []string{"scratch", "s.md"} {
		for _, how := range []string{"--ioengine=psync --rw=randwrite", "--ioengine=psync --rw=randwrite --fsync=16", "--ioengine=mmap --rw=randwrite"} {
			out, err := exec.Command("fio", append(strings.Fields(how), "--name=verify", "--filename="+m.path("sessions/"+name), "--size=2m", "--bs=4k", "--verify_state_save=0",
				"--verify=crc32c", "--do_verify=1", "--verify_fatal=1", "--randseed=1", "--output-format=terse")...).CombinedOutput()
			if err != nil {
				t.Errorf("fio %s on %s: %v\n%s", how, name, err, out)
			}
		}
	}
	got, err := os.ReadFile(m.path("sessions/s.md"))
	if err != nil {
		t.Fatal(err)
	}
	m.settle()
	all := m.stored("s")
	if len(all) == 0 || !bytes.Equal([]byte(all[len(all)-1]), got) {
		t.Error("the snapshot is not what was written")
	}
}

// TestManyAtOnce writes, renames and removes from several processes.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	rounds := 4
	if os.Getenv("SOAK") != "" {
		rounds = 40
	}
	m := mounted(t)
	m.sh(`for p in 1 2 3 4; do (
		for i in $(seq ` + fmt.Sprint(rounds) + `); do
			echo $p $i >> p$p.md; mv p$p.md q$p.md; mv q$p.md p$p.md; echo $i > x$p.md; rm x$p.md
			mkdir -p d$p/e; echo $i > d$p/e/f.md; mv d$p g$p; rm -r g$p; cat *.md >/dev/null 2>&1; ls -lR .. >/dev/null 2>&1
		done) & done; wait`)
	m.settle()
	if got := m.sessions(); got != "p1 p2 p3 p4" {
		t.Errorf("sessions are %q", got)
	}
	for p := 1; p <= 4; p++ {
		var want strings.Builder
		for i := range rounds {
			fmt.Fprintf(&want, "%d %d\n", p, i+1)
		}
		if got := m.read(fmt.Sprintf("sessions/p%d.md", p)); got != want.String() {
			t.Errorf("p%d.md: %q", p, got)
		}
	}
}
