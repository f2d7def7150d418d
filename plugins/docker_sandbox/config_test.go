package dockersandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/schema"
	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/dockertest"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

func TestConfig(t *testing.T) {
	allowed, other := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(allowed, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(allowed, "out")); err != nil {
		t.Fatal(err)
	}
	mount := func(source, more string) string {
		return `{"image": "x", "mounts": [{"source": "` + source + `", "target": "/mnt"` + more + `}]}`
	}
	for _, c := range []struct {
		name, config string
		allow        domarkx.Allow
		want         string // in the error
	}{
		{"network", `{"image": "x", "network": "bridge"}`, domarkx.Allow{}, "/network: network \"bridge\" is not allowed: invalid; to let containers reach the network, git config domarkx.allowNetwork true"},
		{"host network", `{"image": "x", "network": "host"}`, domarkx.Allow{Network: true}, "would undo the sandbox"},
		{"another's network", `{"image": "x", "network": "container:y"}`, domarkx.Allow{Network: true}, "would undo the sandbox"},
		{"memory", `{"image": "x", "memory": "1k"}`, domarkx.Allow{}, "/memory: \"1k\" is too little"},
		{"huge memory", `{"image": "x", "memory": "99999999999g"}`, domarkx.Allow{}, "/memory: \"99999999999g\" is not a valid size"},
		{"mount", mount(other, ""), domarkx.Allow{}, "is not allowed"},
		{"mount elsewhere", mount(other, ""), domarkx.Allow{Mounts: []string{allowed}}, "git config --add domarkx.allowMount"},
		{"mount through a link", mount(allowed+"/out", ""), domarkx.Allow{Mounts: []string{allowed}}, "is not allowed"},
		{"mount above", mount(filepath.Dir(allowed), ""), domarkx.Allow{Mounts: []string{allowed}}, "is not allowed"},
		{"mount nothing", mount(allowed+"/none", ""), domarkx.Allow{Mounts: []string{allowed}}, "no such file"},
		{"mount relative", mount("below", ""), domarkx.Allow{Mounts: []string{allowed}}, "no work tree"},
		{"mount of a forbidden directory", mount(allowed, ""), domarkx.Allow{Mounts: []string{allowed}}, "which containers may not access"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := domarkx.Env{Config: value(t, c.config), Dir: t.TempDir(), Allow: c.allow, Warn: func(string) {},
				Forbidden: []string{filepath.Join(allowed, "below", "git")}}
			_, err := dockersandbox.New().Open(context.Background(), env)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Values of ${NAME} are refused where processes or versions would show them.
func TestNoSecretInArguments(t *testing.T) {
	shared := t.TempDir()
	for _, test := range []struct{ written, expanded, want string }{
		{`{"image": "x", "command": "serve --key=${KEY}"}`, `{"image": "x", "command": "serve --key=s3cr3t"}`, "/command"},
		{`{"image": "x", "command": ["serve", "${KEY}"]}`, `{"image": "x", "command": ["serve", "s3cr3t"]}`, "/command"},
		{`{"image": "x", "mounts": [{"source": "` + shared + `", "target": "/${KEY}"}]}`, `{"image": "x", "mounts": [{"source": "` + shared + `", "target": "/s3cr3t"}]}`, "/mounts/0: target"},
	} {
		env := domarkx.Env{Config: value(t, test.expanded), Written: value(t, test.written), Dir: t.TempDir(), Warn: func(string) {}, Allow: domarkx.Allow{Mounts: []string{shared}}}
		_, err := dockersandbox.New().Open(t.Context(), env)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "${NAME}") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", test.written, err)
		}
	}
}

func TestSchema(t *testing.T) {
	d, err := (&dockersandbox.Plugin{}).Describe(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(d.Config.JSON())
	if err != nil {
		t.Fatal(err)
	}
	for config, good := range map[string]bool{
		`{"image": "x"}`: true,
		`{"image": "x", "command": "serve", "env": {"A": "b", "N": 1, "T": true}, "network": "none", "memory": "512m", "cpus": 0.5}`: true,
		`{"image": "x", "command": ["a", "b"], "memory": 536870912, "mounts": [{"source": "a", "target": "/b", "writable": true}]}`:  true,
		`{}`:                                 false,
		`{"image": ""}`:                      false,
		`{"image": 3}`:                       false,
		`{"image": "x", "imgae": "y"}`:       false,
		`{"image": "x", "command": []}`:      false,
		`{"image": "x", "env": {"": "b"}}`:   false,
		`{"image": "x", "env": {"A=B": ""}}`: false,
		`{"image": "x", "env": {"A": {}}}`:   false,
		`{"image": "x", "memory": "much"}`:   false,
		`{"image": "x", "cpus": 0}`:          false,
		`{"image": "x", "mounts": ["/:/"]}`:  false,
		`{"image": "x", "mounts": [{"source": "a", "target": "b"}]}`: false,
	} {
		if found := s.Check(value(t, config), nil); (len(found) == 0) != good {
			t.Errorf("%s: %v", config, found)
		}
	}
}

func TestNoEngine(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOCKER_HOST", "unix://"+dir+"/none")
	_, err := dockersandbox.New().Open(context.Background(), domarkx.Env{Config: value(t, plainConfig), Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "no Docker engine answers at unix://"+dir) || !strings.Contains(err.Error(), "set DOCKER_HOST") {
		t.Errorf("no engine: %v", err)
	}
	t.Setenv("DOCKER_HOST", "nonsense")
	if _, err := dockersandbox.New().Open(context.Background(), domarkx.Env{Config: value(t, plainConfig), Dir: dir}); err == nil || !strings.Contains(err.Error(), "DOCKER_HOST") {
		t.Errorf("nonsense: %v", err)
	}
}

func TestNoImage(t *testing.T) {
	_, err := dockersandbox.New().Open(context.Background(), domarkx.Env{Config: value(t, `{"image": "no/such:image"}`), Dir: t.TempDir()})
	if !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), "run: docker pull no/such:image") {
		t.Errorf("no image: %v", err)
	}
}

func TestMounts(t *testing.T) {
	t.Parallel()
	host, shared := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(host, "given"), []byte("given\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, plainConfig)
	s.run("echo kept > /data/kept; rm /data/plain")
	m := plugintest.NewMemory()
	before := s.commit(m)
	s.close()

	s.env.Allow.Mounts = []string{host, shared}
	s.env.Config = value(t, `{"image": "`+dockertest.Image+`", "memory": "256m", "cpus": 0.5, "mounts": [
		{"source": "`+host+`", "target": "/mnt/host"}, {"source": "`+shared+`", "target": "/mnt/shared", "writable": true}]}`)
	s.reopen()
	if changed, err := s.live.Changed(context.Background()); changed || err != nil {
		t.Errorf("changed by a new config: %v %v", changed, err)
	}
	out := s.run("cat /mnt/host/given /data/kept; echo x > /mnt/host/x || true; echo y > /mnt/shared/y; cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null || true; ls /data/plain || true")
	if !strings.HasPrefix(out, "given\nkept\n") || !strings.Contains(out, "Read-only file system") || !strings.Contains(out, "268435456") ||
		!strings.Contains(out, "/data/plain: No such file") {
		t.Errorf("in the container: %s", out)
	}
	if y, err := os.ReadFile(filepath.Join(shared, "y")); err != nil || string(y) != "y\n" {
		t.Errorf("written to the host: %q %v", y, err)
	}
	if after := s.commit(m); after != before {
		t.Errorf("the version has files of directories of the host:\n%s", list(t, m, after))
	}
	s.close()

	s.env.Private = true
	s.reopen()
	if out := s.call("echo z > /mnt/shared/z"); !strings.Contains(out, "Read-only file system") {
		t.Errorf("a private copy writes to the host: %s", out)
	}
}

func TestRunner(t *testing.T) {
	s := used(t)
	r, err := s.live.(domarkx.Runner).Run(context.Background(), "sh", "for i in 1 2; do\n  echo \"$i\"\ndone\nexit 4\n")
	if err != nil || r.Value.JSON() != `{"exit_code":4,"output":"1\n2\n"}` {
		t.Errorf("sh: %s %v", r.Value.JSON(), err)
	}
	_, err = s.live.(domarkx.Runner).Run(context.Background(), "python", "print(1)")
	var tool *domarkx.ToolError
	if !errors.As(err, &tool) || tool.Code != domarkx.CodeNotFound {
		t.Errorf("python: %v", err)
	}
	_, err = s.live.(domarkx.Runner).Run(context.Background(), "sh", strings.Repeat("#", 1<<17))
	if !errors.As(err, &tool) || tool.Code != domarkx.CodeInvalid {
		t.Errorf("too long: %v", err)
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	s := open(t, `{"image": "`+dockertest.Image+`", "command": "echo $$ >> /began; exec sleep 600"}`)
	eventually(t, "the command began", func() bool { return s.call("cat /began | wc -l") == `{"exit_code":0,"output":"1\n"}` })
	r, err := s.live.Execute(context.Background(), domarkx.Call{Tool: "run_command", Arguments: value(t, `{"command": "sleep 600", "timeout": 0.2}`)})
	if err != nil || !strings.Contains(r.Value.JSON(), "timed_out") {
		t.Fatalf("%s %v", r.Value.JSON(), err)
	}
	eventually(t, "the command began again", func() bool { return s.call("cat /began | wc -l") == `{"exit_code":0,"output":"2\n"}` })
}
