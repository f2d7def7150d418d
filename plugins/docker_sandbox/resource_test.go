package dockersandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	dockersandbox "github.com/domarkx/domarkx/plugins/docker_sandbox"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/dockertest"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// A sandbox is a resource under test.
type sandbox struct {
	t        *testing.T
	env      domarkx.Env
	live     domarkx.Resource
	warnings []string
}

func value(t testing.TB, json string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.ParseValue([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// open creates a resource that is torn down when the test ends.
func open(t *testing.T, config string) *sandbox {
	t.Helper()
	s := &sandbox{t: t}
	s.env = domarkx.Env{Workspace: "w", Resource: "docker_sandbox", Config: value(t, config), Dir: t.TempDir(),
		Warn: func(message string) { s.warnings = append(s.warnings, message) }}
	s.reopen()
	t.Cleanup(func() {
		if s.live == nil {
			s.reopen()
		}
		if err := s.live.TearDown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

const plainConfig = `{"image": "` + dockertest.Image + `"}`

// usedConfig is the config of [used].
const usedConfig = `{"image": "` + dockertest.Image + `", "env": {"A": "b c", "N": 1}}`

// shared is the resource that tests use one after the other.
var shared struct {
	sync.Mutex
	sandbox
}

// used returns a resource for a test that can begin with any files and processes: the one that others used before.
func used(t *testing.T) *sandbox {
	t.Helper()
	t.Parallel()
	shared.Lock()
	t.Cleanup(shared.Unlock)
	s := &shared.sandbox
	s.t = t
	if s.env.Dir == "" {
		dir, err := os.MkdirTemp("", "docker-sandbox-")
		if err != nil {
			t.Fatal(err)
		}
		s.env = domarkx.Env{Workspace: "w", Resource: "docker_sandbox", Config: value(t, usedConfig), Dir: dir, Warn: func(string) {}}
	}
	if s.live == nil {
		s.reopen()
	}
	return s
}

// removeShared removes the resource of used.
func removeShared() error {
	s := &shared.sandbox
	if s.env.Dir == "" {
		return nil
	}
	live, err := dockersandbox.New().Open(context.Background(), s.env)
	if err == nil {
		err = live.TearDown(context.Background())
	}
	return errors.Join(err, os.RemoveAll(s.env.Dir))
}

func (s *sandbox) reopen() {
	s.t.Helper()
	live, err := dockersandbox.New().Open(context.Background(), s.env)
	if err != nil {
		s.t.Fatal(err)
	}
	s.live = live
}

func (s *sandbox) close() {
	s.t.Helper()
	if err := s.live.Close(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	s.live = nil
}

// call returns the result of a command as JSON.
func (s *sandbox) call(command string) string {
	s.t.Helper()
	r, err := s.live.Execute(context.Background(), domarkx.Call{Tool: "run_command",
		Arguments: jsonvalue.ObjectValue(jsonvalue.Member{Name: "command", Value: jsonvalue.StringValue(command)})})
	if err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	return r.Value.JSON()
}

// run runs a command that must succeed, and returns its output.
func (s *sandbox) run(command string) string {
	s.t.Helper()
	v := value(s.t, s.call(command))
	code, _ := v.Get("exit_code")
	out, _ := v.Get("output")
	if code.Text() != "0" {
		s.t.Fatalf("%s: %s", command, v.JSON())
	}
	return out.Text()
}

func (s *sandbox) commit(m *plugintest.Memory) string {
	s.t.Helper()
	ctx := context.Background()
	p, err := m.Begin(ctx, "")
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.live.Commit(ctx, p); err != nil {
		s.t.Fatal(err)
	}
	v, err := p.Finish(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// list returns the content of a version, one file per line.
func list(t *testing.T, m *plugintest.Memory, version string) string {
	t.Helper()
	var lines []string
	err := domarkx.WalkVersion(context.Background(), m, version, func(path string, f domarkx.File) error {
		line := fmt.Sprintf("%q %v %o", path, f.Type, f.Mode)
		if f.HasOwner && f.UID+f.GID > 0 {
			line += fmt.Sprintf(" %d:%d", f.UID, f.GID)
		}
		if f.HardLink != "" {
			line += fmt.Sprintf(" = %q", f.HardLink)
		}
		if f.Major+f.Minor > 0 {
			line += fmt.Sprintf(" %d,%d", f.Major, f.Minor)
		}
		for _, x := range f.Xattrs {
			line += fmt.Sprintf(" %s=%x", x.Name, x.Value)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func TestCommands(t *testing.T) {
	s := used(t)
	for _, c := range []struct{ command, want string }{
		{"echo hi; echo there >&2; exit 3", `{"exit_code":3,"output":"hi\nthere\n"}`},
		{`printf "%s|" "$A" "$N" "$FROM_IMAGE" "$HOME" "$(pwd)" "$(id -u)"`, `{"exit_code":0,"output":"b c|1|yes|/root|/|0|"}`},
		{`printf '\377'`, `{"exit_code":0,"output_base64":"/w=="}`},
		{`kill -9 $$`, `{"exit_code":137,"output":""}`},
		{`cat`, `{"exit_code":0,"output":""}`},
		{`tty`, `{"exit_code":1,"output":"not a tty\n"}`},
		{`no-such-program`, `{"exit_code":127,"output":"sh: no-such-program: not found\n"}`},
		{`(sleep 600 &) ; echo left one`, `{"exit_code":0,"output":"left one\n"}`},
		{`echo forged > /proc/1/fd/1`, `{"exit_code":1,"output":"sh: can't create /proc/1/fd/1: Permission denied\n"}`},
		{`kill -9 1; echo alive`, `{"exit_code":0,"output":"alive\n"}`},
	} {
		if got := s.call(c.command); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.command, got, c.want)
		}
	}
}

// TestOutOfMemory checks that a command that exceeds the memory limit is killed, and that the container's files stay.
// The kernel chooses the processes: the shell may survive and continue, and the agent is only the last one chosen,
// but it may be, while the memory of the killed ones is not free yet. The next call starts the container again then.
func TestOutOfMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a container's memory")
	}
	s := open(t, `{"image": "`+dockertest.Image+`", "memory": "24m"}`)
	try := func(command string) string {
		r, err := s.live.Execute(context.Background(), domarkx.Call{Tool: "run_command", Arguments: value(t, fmt.Sprintf(`{"command": %q}`, command))})
		var failed *domarkx.ToolError
		switch {
		case errors.As(err, &failed):
			return failed.Message
		case err != nil:
			t.Fatalf("%s: %v", command, err)
		}
		return r.Value.JSON()
	}
	s.run("echo before > /before")
	out := try("head -c 200m /dev/zero | tail -c 199m | wc -c; echo after")
	if strings.Contains(out, "208666624") || !strings.Contains(out, "more than 25165824 bytes of memory (git config domarkx.limit.memory)") {
		t.Errorf("got %s", out)
	}
	got, want := "", `{"exit_code":0,"output":"before\n"}`
	for deadline := time.Now().Add(20 * time.Second); got != want && time.Now().Before(deadline); {
		got = try("cat /before")
	}
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTimeout(t *testing.T) {
	s := used(t)
	s.run("echo kept > /tmp/kept")
	began := time.Now()
	r, err := s.live.Execute(context.Background(), domarkx.Call{Tool: "run_command",
		Arguments: value(t, `{"command": "echo begun; setsid sh -c 'setsid sleep 777 & sleep 777' & sleep 777", "timeout": 0.5}`)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Value.JSON(), `{"exit_code":-1,"output":"begun\n","timed_out":true}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("it took %v", d)
	}
	if out := s.run("ps | grep [7]77 || echo none; cat /tmp/kept"); out != "none\nkept\n" {
		t.Errorf("after the timeout: %s", out)
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	s := open(t, plainConfig)
	m := plugintest.NewMemory()
	if changed, err := s.live.Changed(context.Background()); changed || err != nil {
		t.Errorf("changed: %v %v", changed, err)
	}
	created := s.commit(m)
	if got, want := list(t, m, created), `"" directory 755
"image.json" file 644`; got != want {
		t.Errorf("a new container holds\n%s", got)
	}
	s.run("true")
	if changed, err := s.live.Changed(context.Background()); !changed || err != nil {
		t.Errorf("changed: %v %v", changed, err)
	}
	if again := s.commit(m); again != created {
		t.Errorf("a command that changed nothing: %s\n%s", again, list(t, m, again))
	}
	if changed, err := s.live.Changed(context.Background()); changed || err != nil {
		t.Errorf("changed: %v %v", changed, err)
	}
}
