package dockersandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/dockertest"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// docker runs Docker's own program, which does not depend on the plugin's client.
func docker(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command("docker", args...).Output()
	if err != nil {
		t.Fatalf("docker %s: %v", args, err)
	}
	return string(out)
}

// containers lists the containers of a resource.
func containers(t testing.TB, dir string) []container {
	t.Helper()
	ids := strings.Fields(docker(t, "ps", "-aq", "--no-trunc", "--filter", "label=org.domarkx.dir="+dir))
	var found []container
	if len(ids) == 0 {
		return nil
	}
	if err := json.Unmarshal([]byte(docker(t, append([]string{"inspect"}, ids...)...)), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

type container struct {
	ID     string
	State  struct{ Running bool }
	Config struct{ Labels map[string]string }
}

// eventually polls until ok returns true, and fails the test after 30 s.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after 30 s: %s", what)
		}
	}
}

func TestKilled(t *testing.T) {
	s := used(t)
	s.run("echo one > /one")
	s.close()
	id := containers(t, s.env.Dir)[0].ID

	hold := exec.Command(os.Args[0])
	hold.Env = append(os.Environ(), "DOCKER_SANDBOX_HOLD="+s.env.Dir)
	hold.Stderr = os.Stderr
	if err := hold.Start(); err != nil {
		t.Fatal(err)
	}
	processes := func() int {
		out, _ := exec.Command("docker", "top", id).Output() // fails until it runs
		return strings.Count(string(out), "\n") - 1
	}
	eventually(t, "the command runs", func() bool { return processes() >= 3 })
	if err := hold.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = hold.Wait() // returns the signal that killed it
	began := time.Now()
	eventually(t, "the container ends", func() bool { return !containers(t, s.env.Dir)[0].State.Running })
	t.Logf("the container ended %v after the kill", time.Since(began))

	s.reopen()
	if changed, err := s.live.Changed(context.Background()); !changed || err != nil {
		t.Errorf("changed: %v %v", changed, err)
	}
	if out := s.run("cat /one /begun; ps | grep -c '[s]leep 1000' || true"); out != "one\nbegun\n0\n" {
		t.Errorf("after reopening: %q", out)
	}
	if list := containers(t, s.env.Dir); len(list) != 1 || list[0].ID != id {
		t.Errorf("containers: %v", list)
	}
}

func TestClose(t *testing.T) {
	s := used(t)
	s.run("sleep 1000 & echo kept > /kept")
	m := plugintest.NewMemory()
	s.commit(m)
	if changed, err := s.live.Changed(context.Background()); !changed || err != nil {
		t.Errorf("while something runs, changed is %v %v", changed, err)
	}
	if out := s.run("ps | grep -c '[s]leep 1000'"); out != "1\n" {
		t.Errorf("after a commit there run %s", out)
	}
	s.close()
	if list := containers(t, s.env.Dir); len(list) != 1 || list[0].State.Running {
		t.Errorf("containers: %+v", list)
	}
	s.reopen()
	if out := s.run("cat /kept"); out != "kept\n" {
		t.Errorf("kept: %q", out)
	}
	s.commit(m)
	if changed, err := s.live.Changed(context.Background()); changed || err != nil {
		t.Errorf("changed: %v %v", changed, err)
	}
}

func TestTearDown(t *testing.T) {
	volumes := func() int { return len(strings.Fields(docker(t, "volume", "ls", "-q"))) }
	before := volumes()
	s := open(t, plainConfig)
	s.run("true")
	if err := s.live.TearDown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if list := containers(t, s.env.Dir); len(list) != 0 {
		t.Errorf("containers: %+v", list)
	}
	if left, err := os.ReadDir(s.env.Dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if after := volumes(); after != before {
		t.Errorf("%d volumes, before there were %d", after, before)
	}
	s.reopen() // a new one
	if changed, err := s.live.Changed(context.Background()); changed || err != nil {
		t.Errorf("changed: %v %v", changed, err)
	}
}

// TestKilledLoad checks that Open removes the files of a process that was killed during a load, and
// that the container is unchanged.
func TestKilledLoad(t *testing.T) {
	s := used(t)
	s.run("echo kept > /kept")
	s.close()
	own := containers(t, s.env.Dir)[0]
	run := []string{"run", "--detach", "--network", "none"}
	for name, value := range own.Config.Labels {
		run = append(run, "--label", name+"="+value)
	}
	left := docker(t, append(run, dockertest.Image, "sleep", "600")...)
	if err := os.WriteFile(filepath.Join(s.env.Dir, "base-"+left[:12]), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.reopen()
	if list := containers(t, s.env.Dir); len(list) != 1 || list[0].ID != own.ID {
		t.Errorf("containers: %+v", list)
	}
	if files, err := filepath.Glob(filepath.Join(s.env.Dir, "base-*")); err != nil || len(files) != 1 {
		t.Errorf("files: %v %v", files, err)
	}
	if out := s.run("cat /kept"); out != "kept\n" {
		t.Errorf("kept: %q", out)
	}
}

func TestLost(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many containers")
	}
	s := open(t, plainConfig)
	m := plugintest.NewMemory()
	s.run("echo x > /x")
	v := s.commit(m)
	s.close()
	docker(t, "rm", "-v", containers(t, s.env.Dir)[0].ID)
	s.reopen()
	_, err := s.live.Execute(context.Background(), domarkx.Call{Tool: "run_command", Arguments: value(t, `{"command": "true"}`)})
	if !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), "rewind") {
		t.Errorf("a call: %v", err)
	}
	lost := func(final bool) {
		t.Helper()
		if why, got := s.live.(domarkx.LostStateReporter).Lost(); why == nil || got != final {
			t.Errorf("lost: %v, for good %v, expected %v", why, got, final)
		}
	}
	lost(true) // everything is in a version
	s.load(m, v)
	if why, _ := s.live.(domarkx.LostStateReporter).Lost(); why != nil {
		t.Errorf("lost after a load: %v", why)
	}
	if out := s.run("cat /x"); out != "x\n" {
		t.Errorf("x: %q", out)
	}
	// Changes that are in no version are gone, unless the container is on another engine.
	s.close()
	docker(t, "rm", "-v", containers(t, s.env.Dir)[0].ID)
	s.reopen()
	lost(true)
	s.close()
	path := filepath.Join(s.env.Dir, "state.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, regexp.MustCompile(`"engine": "[^"]*"`).ReplaceAll(data, []byte(`"engine": "another"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.reopen()
	lost(false)
	s.load(m, v)
	if out := s.run("cat /x"); out != "x\n" {
		t.Errorf("x: %q", out)
	}
}

// TestLostBeforeItsFirstVersion removes a container before anything ran in it; it is created again.
func TestLostBeforeItsFirstVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts containers of its own")
	}
	t.Parallel()
	s := open(t, plainConfig)
	s.close()
	docker(t, "rm", "-v", containers(t, s.env.Dir)[0].ID)
	s.reopen()
	if out := s.run("echo x"); out != "x\n" {
		t.Errorf("x: %q", out)
	}
}

func TestStateDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts containers of its own")
	}
	t.Parallel()
	s := open(t, plainConfig)
	m := plugintest.NewMemory()
	s.run("echo x > /x")
	v := s.commit(m)
	s.run("echo y > /y")
	s.close()
	files, err := filepath.Glob(filepath.Join(s.env.Dir, "base-*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	if err := os.Truncate(files[0], 100); err != nil {
		t.Fatal(err)
	}
	s.reopen()
	if _, err := s.live.Execute(context.Background(), domarkx.Call{Tool: "run_command", Arguments: value(t, `{"command": "true"}`)}); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("a call: %v", err)
	}
	s.load(m, v)
	if out := s.run("ls /x /y 2>/dev/null || true"); out != "/x\n" {
		t.Errorf("there are: %q", out)
	}
}

func TestAgentRemoved(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts containers of its own")
	}
	t.Parallel()
	s := open(t, usedConfig)
	s.call("rm -rf /.git-domarkx/agent /.git-domarkx 2>/dev/null; echo kept > /kept")
	s.close()
	s.reopen()
	if out := s.run("cat /kept"); out != "kept\n" {
		t.Errorf("kept: %q", out)
	}
	const hang = `for f in agent ld.so; do rm -f /.git-domarkx/$f; printf '#!/bin/sh\nsleep 1000\n' >/.git-domarkx/$f; chmod +x /.git-domarkx/$f; done`
	s.call(hang)
	s.close()
	s.reopen()
	slow := domarkx.Call{Tool: "run_command", Arguments: value(t, `{"command": "true", "timeout": 0.5}`)}
	if _, err := s.live.Execute(context.Background(), slow); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call that an agent does not answer: %v", err)
	}
	s.call(hang) // the call before has the agent copied again
	s.close()
	var err error
	if s.live, err = dockersandbox.NewImpatient(time.Second).Open(context.Background(), s.env); err != nil {
		t.Fatal(err)
	}
	s.commit(plugintest.NewMemory())
}

func TestLeftovers(t *testing.T) {
	root := t.TempDir()
	s := &sandbox{t: t, env: domarkx.Env{Workspace: "w", Resource: "r", Config: value(t, plainConfig), Dir: filepath.Join(root, "w", "1"), Warn: func(string) {}}}
	if err := os.MkdirAll(s.env.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.reopen()
	s.close()
	leftovers := func() int {
		t.Helper()
		list, err := dockersandbox.New().Leftovers(context.Background(), root)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			if o.What != "container "+o.ID[:12] || o.Workspace != "w" || o.Resource != "r" || o.Dir != s.env.Dir {
				t.Errorf("leftover %+v", o)
			}
		}
		return len(list)
	}
	if n := leftovers(); n != 0 {
		t.Errorf("%d leftovers while the resource is there", n)
	}
	if err := os.Rename(filepath.Join(root, "w"), filepath.Join(root, "renamed")); err != nil {
		t.Fatal(err)
	}
	if n := leftovers(); n != 0 {
		t.Errorf("%d leftovers once the workspace has another name", n)
	}
	if err := os.RemoveAll(filepath.Join(root, "renamed")); err != nil {
		t.Fatal(err)
	}
	if n := leftovers(); n != 1 {
		t.Fatalf("%d leftovers once the resource is gone", n)
	}
	list, err := dockersandbox.New().Leftovers(context.Background(), root)
	if err != nil {
		t.Fatal(err)
	}
	if err := dockersandbox.New().RemoveLeftover(context.Background(), list[0]); err != nil {
		t.Fatal(err)
	}
	if n := leftovers(); n != 0 {
		t.Errorf("%d leftovers after removing it", n)
	}
}

func TestLeftoversWithoutAnEngine(t *testing.T) {
	slow, err := net.Listen("unix", filepath.Join(t.TempDir(), "slow")) // accepts connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	for _, host := range []string{"unix:///nowhere/docker.sock", "unix://" + slow.Addr().String(), "tcp://127.0.0.1:1", "nonsense"} {
		t.Setenv("DOCKER_HOST", host)
		if list, err := dockersandbox.NewImpatient(300*time.Millisecond).Leftovers(t.Context(), t.TempDir()); len(list) > 0 || err != nil {
			t.Errorf("%s: %v, %v", host, list, err)
		}
	}
}

func TestImages(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many containers")
	}
	s := open(t, plainConfig)
	m := plugintest.NewMemory()
	s.run("echo x > /x")
	v := s.commit(m)
	if err := dockertest.Load(context.Background(), "", "domarkx-test:other", map[string][]byte{"other": []byte("o")}); err != nil {
		t.Fatal(err)
	}
	s.close()
	s.env.Config = value(t, `{"image": "domarkx-test:other"}`)
	s.reopen()
	if len(s.warnings) != 1 {
		t.Errorf("warnings: %q", s.warnings)
	}
	if out := s.run("cat /other; ls /x 2>&1" + " || true"); !strings.HasPrefix(out, "o") || !strings.Contains(out, "No such file") {
		t.Errorf("with the other image: %q", out)
	}
	// The version names its image by content.
	s.load(m, v)
	if out := s.run("cat /x; ls /other 2>&1 || true"); !strings.HasPrefix(out, "x\nls: ") {
		t.Errorf("with the version's image: %q", out)
	}
}
