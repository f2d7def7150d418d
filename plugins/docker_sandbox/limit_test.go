package dockersandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/dockertest"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// TestLimits runs commands that would take all processes or all memory. The config cannot raise the limits.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := open(t, `{"image": "`+dockertest.Image+`", "memory": "100g"}`)
	s.run("echo kept > /kept")
	s.close()
	s.env.Limits = domarkx.Limits{Processes: 50, Memory: 64 << 20}
	before := containers(t, s.env.Dir)[0].ID
	s.reopen() // the limits of a container that exists change
	if now := containers(t, s.env.Dir); len(now) != 1 || now[0].ID != before {
		t.Errorf("containers: %v", now)
	}
	began := time.Now()
	bomb := "b() { b | b & }; b; sleep 2; echo after"
	if got := s.call(bomb); !strings.Contains(got, "more than 50 processes (git config domarkx.limit.processes)") {
		t.Errorf("a fork bomb: %s", got)
	}
	if got := s.run("cat /kept; ps | wc -l | awk '$1 > 10'"); got != "kept\n" {
		t.Errorf("after a fork bomb: %q", got)
	}
	if got := s.call("head -c 200m /dev/zero | tail -c 199m | wc -c"); !strings.Contains(got, "more than 67108864 bytes of memory (git config domarkx.limit.memory)") {
		t.Errorf("a command that takes the memory: %s", got)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	m := plugintest.NewMemory()
	if files := list(t, m, s.commit(m)); !strings.Contains(files, "kept") {
		t.Errorf("the version has %s", files)
	}
}

// TestLimitOfFiles leaves a directory of many files out of a version, and the file that makes it too large.
func TestLimitOfFiles(t *testing.T) {
	t.Parallel()
	s, m := open(t, plainConfig), plugintest.NewMemory()
	s.close()
	s.env.Limits = domarkx.Limits{Files: 20, Version: 1 << 20}
	s.reopen()
	s.run("mkdir /many; for i in $(seq 30); do echo > /many/$i; done; ln /many/1 /other; echo kept > /kept; truncate -s 2M /tmp/hole")
	files := list(t, m, s.commit(m))
	if strings.Contains(files, "many") || strings.Contains(files, "other") || strings.Contains(files, "hole") || !strings.Contains(files, "kept") {
		t.Errorf("the version has %s", files)
	}
	left := ""
	for _, f := range s.live.(domarkx.OutLister).LeftOut() {
		left += f.Path + ": " + f.Reason + "\n"
	}
	if left != "many: too many files\nother: too many files\ntmp/hole: version too large\n" {
		t.Errorf("left out: %s", left)
	}
}
