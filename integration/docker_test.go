package integration_test

import (
	"os"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/docker_sandbox/dockertest"
)

// TestDocker covers the life of a session whose commands run in a container.
func TestDocker(t *testing.T) {
	s := newRepository(t).with("DOCKER_HOST=" + dockertest.Use(t))
	containers := func() string { return s.must("", "docker", "ps", "-aq", "--filter", "label=org.domarkx.instance") }
	s.write("box.md", strings.ReplaceAll(`'''workspace-config
resources:
  - type: docker_sandbox
    id: box
    image: `+dockertest.Image+`
    env: {NAME: "${WHO}"}
'''

## user

Go.

## assistant

'''sh name=greet
echo "hello $NAME" > /data/hello; chown 7:8 /data/hello; rm -r /data/gone
'''

'''tool-call
{"resource": "box", "tool": "run_command", "arguments": {"command": "sleep 600 & cat /data/hello"}}
'''
`, "'''", "```"))
	s = s.with("WHO=world")
	s.domarkx("import", "box.md")
	s.domarkx("run", "--yes", "box")
	if out := s.domarkx("show", "box"); !strings.Contains(out, `"output": "hello world\n"`) {
		t.Errorf("the session:\n%s", out)
	}
	if running := s.must("", "docker", "ps", "-q"); running != "" {
		t.Errorf("running after the command: %s", running)
	}
	if out := s.git("cat-file", "-p", "refs/domarkx/workspaces/box:box/deleted"); out != "data/gone" && out != "data/gone\n" {
		t.Errorf("deleted: %q", out)
	}
	if out := s.git("grep", "-c", "world", "refs/domarkx/workspaces/box", "--", "workspace.json", "box/image.json", "box/rootfs/data/hello"); strings.Contains(out, ".json") {
		t.Errorf("a secret is stored: %s", out)
	}

	s.domarkx("fork", "box", "other")
	s.domarkx("exec", "--yes", "other", "box", "run_command", "command=rm /data/hello")
	for name, want := range map[string]string{"box": "7:8 0", "other": "0"} {
		if out := s.domarkx("exec", "--yes", name, "box", "run_command", "command=stat -c %u:%g /data/hello 2>/dev/null | tr '\\n' ' '; ls /data/gone 2>/dev/null | wc -l"); !strings.Contains(out, `"`+want+`\n"`) {
			t.Errorf("%s: %s, want %s", name, out, want)
		}
	}
	s.domarkx("exec", "--yes", "other", "box", "run_command", "command=touch /data/lent; chown 7:8 /data/lent; chmod 6755 /data/lent")
	s.domarkx("trust", "other")
	if o := s.try("", "git-domarkx", "checkout", "other", "out"); o.code != 0 || !strings.Contains(o.err, "1 files lose their set-id bits") {
		t.Error(o)
	}
	if info, err := os.Stat(s.path("out/box/rootfs/data/lent")); err != nil || info.Mode() != 0o755 {
		t.Errorf("a set-id program of another user: %v, %v", info, err)
	}
	s.domarkx("workspace", "rm", "other")
	if n := len(strings.Fields(containers())); n != 1 {
		t.Errorf("%d containers after the fork is gone", n)
	}
	down := s.with("DOCKER_HOST=unix:///nowhere/docker.sock")
	if o := down.try("", "git-domarkx", "workspace", "rm", "box"); o.code == 0 {
		t.Error("a container was removed without its engine")
	}
	down.domarkx("workspace", "rm", "--force", "box")
	if out := down.domarkx("doctor"); strings.Contains(out, "container") {
		t.Errorf("without the engine: %s", out)
	}
	down.domarkx("gc")
	if out := s.domarkx("doctor"); !strings.Contains(out, "was left of resource box that is gone\tbox\tgit domarkx gc") {
		t.Errorf("the container that is left is not found: %s", out)
	}
	if out := s.domarkx("gc"); !strings.Contains(out, "was removed\tbox") || containers() != "" {
		t.Errorf("%s: there are %s", out, containers())
	}
	s.domarkx("rm", "box")
	s.sound()
}
