//go:build linux

package localshell_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	localshell "github.com/domarkx/domarkx/plugins/local_shell"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/process"
)

func TestMain(m *testing.M) {
	if code, ok := process.Supervise(); ok {
		os.Exit(code)
	}
	if dir := os.Getenv("LOCALSHELL_TEST_HANG"); dir != "" {
		hang(dir)
	}
	if socket := os.Getenv("LOCALSHELL_TEST_CONNECT"); socket != "" {
		connect(socket)
	}
	plugintest.UsePython()
	os.Exit(m.Run())
}

// hang runs a command that does not end until this process is killed.
func hang(dir string) {
	r, err := localshell.New().Open(context.Background(), domarkx.Env{Dir: dir, Config: jsonvalue.ObjectValue()})
	if err == nil {
		_, err = r.Execute(context.Background(), call("run_command", "command", daemon))
	}
	fmt.Println(err)
	os.Exit(1)
}

// daemon starts processes that leave their session and parent, and waits.
const daemon = `setsid sh -c 'echo $$ > d1; exec sleep 1000' &
(setsid sh -c 'echo $$ > d2; trap "" TERM HUP INT; while :; do sleep 1000; done' & ) 
while [ ! -s d1 ] || [ ! -s d2 ]; do sleep 0.01; done
readlink /proc/self/ns/pid > ns; touch ready; sleep 1000`

func call(tool string, pairs ...string) domarkx.Call {
	o := jsonvalue.ObjectValue()
	for i := 0; i < len(pairs); i += 2 {
		v := jsonvalue.StringValue(pairs[i+1])
		if pairs[i] == "timeout" {
			v = jsonvalue.NumberValue(pairs[i+1])
		}
		o = o.With(pairs[i], v)
	}
	return domarkx.Call{Tool: tool, Arguments: o}
}

func open(t *testing.T, allow domarkx.Allow) (domarkx.Resource, string) {
	t.Helper()
	r, err := localshell.New().Open(t.Context(), domarkx.Env{Dir: t.TempDir(), Config: jsonvalue.ObjectValue(), Allow: allow, Warn: func(m string) { t.Log(m) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.TearDown(context.Background()) })
	return r, r.(domarkx.HostPath).Path()
}

func run(t *testing.T, r domarkx.Resource, command string) (code int, out string) {
	t.Helper()
	result, err := r.Execute(t.Context(), call("run_command", "command", command))
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return codeOf(t, result), member(result, "output")
}

func member(r domarkx.Result, name string) string {
	v, _ := r.Value.Get(name)
	return v.Text()
}

func codeOf(t *testing.T, r domarkx.Result) int {
	t.Helper()
	code, err := strconv.Atoi(member(r, "exit_code"))
	if err != nil {
		t.Fatal(r.Value.JSON())
	}
	return code
}

func TestRunCommand(t *testing.T) {
	r, path := open(t, domarkx.Allow{})
	for _, c := range []struct {
		command string
		code    int
		out     string
	}{
		{"echo hi; echo there >&2; exit 3", 3, "hi\nthere\n"},
		{"pwd", 0, path + "\n"},
		{"kill -9 $$", 137, ""},
		{"cat", 0, ""},
		{"echo $TERM $LANG ${SECRET-none} ${GIT_DIR-none}", 0, "dumb C.UTF-8 none none\n"},
		{`echo x > "$HOME/a" && echo y > "$TMPDIR/b" && cat "$HOME/a"`, 0, "x\n"},
		{"echo in > here && cat < here", 0, "in\n"},
		{"mkdir d && mv here d/there && ln d/there here && cat d/there", 0, "in\n"},
		{"cat <(echo sub)", 0, "sub\n"},
	} {
		t.Setenv("SECRET", "s3cret")
		t.Setenv("GIT_DIR", "/elsewhere")
		if code, out := run(t, r, c.command); code != c.code || out != c.out {
			t.Errorf("%s: %d %q, expected %d %q", c.command, code, out, c.code, c.out)
		}
	}
}

func TestConfinement(t *testing.T) {
	outside := t.TempDir()
	r, _ := open(t, domarkx.Allow{})
	if code, out := run(t, r, "echo x > "+outside+"/f"); code == 0 {
		t.Errorf("wrote outside: %s", out)
	}
	if code, _ := run(t, r, "echo x > /dev/null; ls /etc/passwd"); code != 0 {
		t.Error("cannot read outside, or write to /dev/null")
	}
	free, _ := open(t, domarkx.Allow{Unsandboxed: true})
	if code, out := run(t, free, "echo x > "+outside+"/f"); code != 0 {
		t.Errorf("confined in spite of the user's configuration: %s", out)
	}
}

// TestConfinedAttributes checks that with namespaces a command can change the attributes of files in
// its directory, and of no others.
func TestConfinedAttributes(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(outside)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := open(t, domarkx.Allow{})
	for _, change := range []string{"chmod 777", "touch -d 2001-01-01", "chown -h $(id -u)"} {
		if code, out := run(t, r, change+" "+outside); code == 0 {
			t.Errorf("%s outside: %s", change, out)
		}
		if code, out := run(t, r, "touch here && "+change+" here $TMPDIR"); code != 0 {
			t.Errorf("%s inside: %s", change, out)
		}
	}
	after, err := os.Stat(outside)
	if err != nil || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("%v, %v: was %v", after, err, before)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	r, path := open(t, domarkx.Allow{})
	began := time.Now()
	result, err := r.Execute(t.Context(), call("run_command", "command", "echo before; "+daemon, "timeout", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if got := result.Value.JSON(); got != `{"exit_code":-1,"output":"before\n","timed_out":true}` && got != `{"exit_code": -1, "output": "before\n", "timed_out": true}` {
		t.Error(got)
	}
	allDead(t, path)
}

// allDead reports processes that still work in a directory.
func allDead(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(path, "ready")); err != nil {
		t.Fatal("the command did not come that far")
	}
	if left := working(t, path); len(left) > 0 {
		t.Errorf("still alive: %v", left)
	}
}

func working(t *testing.T, path string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && at == path {
			left = append(left, link)
		}
	}
	return left
}

func TestBackgroundEndsWithTheCommand(t *testing.T) {
	r, path := open(t, domarkx.Allow{})
	if code, out := run(t, r, strings.TrimSuffix(daemon, "; sleep 1000")); code != 0 {
		t.Fatal(code, out)
	}
	allDead(t, path)
}

// TestWithoutNamespaces checks that a subreaper finds and ends all processes of a command, even if the
// command stops the supervisor.
func TestWithoutNamespaces(t *testing.T) {
	for name, command := range map[string]string{
		"ends":                 strings.TrimSuffix(daemon, "; sleep 1000"),
		"takes too long":       daemon,
		"stops its supervisor": "kill -STOP $PPID; " + daemon,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := withoutNamespaces(t)
			began := time.Now()
			if _, err := r.Execute(t.Context(), call("run_command", "command", command, "timeout", "1.5")); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
			allDead(t, r.(domarkx.HostPath).Path())
		})
	}
}

// withoutNamespaces opens a shell whose commands get no namespaces.
func withoutNamespaces(t *testing.T) domarkx.Resource {
	t.Helper()
	r, err := localshell.NewWithoutNamespaces().Open(t.Context(), domarkx.Env{
		Dir: t.TempDir(), Config: jsonvalue.ObjectValue(), Allow: domarkx.Allow{Unsandboxed: true}, Warn: func(m string) { t.Log(m) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.TearDown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestKilledSupervisor checks that a command that kills its supervisor fails with an error that says
// so, and that all its processes are dead.
func TestKilledSupervisor(t *testing.T) {
	for name, command := range map[string]string{
		"and ends":    strings.TrimSuffix(daemon, "; sleep 1000") + "; kill -9 $PPID",
		"and goes on": strings.TrimSuffix(daemon, "; sleep 1000") + "; kill -9 $PPID; sleep 1000",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := withoutNamespaces(t)
			_, err := r.Execute(t.Context(), call("run_command", "command", command, "timeout", "20"))
			var e *domarkx.ToolError
			if !errors.As(err, &e) || e.Code != domarkx.CodeFailed || !strings.Contains(e.Message, "supervises the command was killed") {
				t.Errorf("the call: %v", err)
			}
			allDead(t, r.(domarkx.HostPath).Path())
			if code, out := run(t, r, "echo on"); code != 0 || out != "on\n" {
				t.Errorf("afterwards: %d, %q", code, out)
			}
		})
	}
}

// TestOddPlace uses a directory whose path is not UTF-8.
func TestOddPlace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bad\xff")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, free := range []bool{false, true} {
		r, err := localshell.New().Open(t.Context(), domarkx.Env{Dir: dir, Config: jsonvalue.ObjectValue(), Allow: domarkx.Allow{Unsandboxed: free}})
		if err != nil {
			t.Fatal(err)
		}
		if code, out := run(t, r, "echo x >f && cat f"); code != 0 || out != "x\n" {
			t.Errorf("exit code %d: %s", code, out)
		}
		if err := r.TearDown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestKilled(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "LOCALSHELL_TEST_HANG="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "files")
	waitFor(t, "the command", func() bool { _, err := os.Stat(filepath.Join(path, "ready")); return err == nil })
	if len(working(t, path)) == 0 {
		t.Fatal("nothing runs")
	}
	cmd.Process.Kill()
	cmd.Wait()
	waitFor(t, "the end of all processes", func() bool { return len(working(t, path)) == 0 })
	data, err := os.ReadFile(filepath.Join(dir, "temporary"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := localshell.New().Open(t.Context(), domarkx.Env{Dir: dir, Config: jsonvalue.ObjectValue()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.TearDown(t.Context())
	if _, err := os.Stat(strings.TrimSpace(string(data))); !os.IsNotExist(err) {
		t.Errorf("the temporary directory is still there: %v", err)
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !poll(ok) {
		t.Fatalf("waited in vain for %s", what)
	}
}

// poll calls ok until it returns true, for at most 30 s, and reports whether it did.
func poll(ok func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

func TestOutput(t *testing.T) {
	r, _ := open(t, domarkx.Allow{})
	result, err := r.Execute(t.Context(), call("run_command", "command", `printf '\377\376'`))
	if err != nil || member(result, "output_base64") != base64.StdEncoding.EncodeToString([]byte("\xff\xfe")) {
		t.Error(result.Value.JSON(), err)
	}
	result, err = r.Execute(t.Context(), call("run_command", "command", `head -c 3000000 /dev/zero | tr '\0' x`))
	if err != nil {
		t.Fatal(err)
	}
	defer result.Attachment.Close()
	whole, err := io.ReadAll(result.Attachment)
	if len(member(result, "output")) != 1<<20 || member(result, "bytes") != "3000000" || len(whole) != 3000000 || err != nil {
		t.Error(len(member(result, "output")), member(result, "bytes"), len(whole), err)
	}
}

func TestLanguages(t *testing.T) {
	r, _ := open(t, domarkx.Allow{})
	d, err := localshell.New().Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	code := map[string]string{
		"bash": "echo ok", "sh": "echo ok", "shell": "echo ok", "python": "print('ok')", "python3": "print('ok')", "perl": `print "ok\n"`,
		"node": "console.log('ok')", "javascript": "console.log('ok')", "js": "console.log('ok')", "ruby": "puts 'ok'",
	}
	pads := []int{0, 200 << 10}
	if testing.Short() {
		pads = pads[1:]
	}
	for _, language := range d.Languages {
		if testing.Short() && slices.Contains([]string{"shell", "python3", "javascript", "js"}, language) {
			continue // other names of those that run
		}
		for _, pad := range pads {
			comment := "#"
			if strings.Contains("node javascript js", language) {
				comment = "//"
			}
			result, err := r.(domarkx.Runner).Run(t.Context(), language, code[language]+"\n"+comment+strings.Repeat("x", pad)+"\n")
			if err != nil || member(result, "output") != "ok\n" {
				t.Errorf("%s: %s, %v", language, result.Value.JSON(), err)
			}
		}
	}
	if _, err := r.(domarkx.Runner).Run(t.Context(), "cobol", "x"); err == nil {
		t.Error("runs cobol")
	}
}

func TestCancel(t *testing.T) {
	r, path := open(t, domarkx.Allow{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		poll(func() bool {
			_, err := os.Stat(filepath.Join(path, "ready"))
			return err == nil
		})
	}()
	if _, err := r.Execute(ctx, call("run_command", "command", daemon)); err != context.Canceled {
		t.Error(err)
	}
	allDead(t, path)
}

// TestUnprivileged repeats the tests that depend on privileges as another user than root.
func TestUnprivileged(t *testing.T) {
	if testing.Short() {
		t.Skip("repeats other tests")
	}
	if os.Geteuid() != 0 || os.Getenv("LOCALSHELL_TEST_UNPRIVILEGED") != "" {
		return // this process is unprivileged already
	}
	dir, err := os.MkdirTemp("", "localshell-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "test")
	data, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(binary, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	asNobody := func(program string, args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir, "LOCALSHELL_TEST_UNPRIVILEGED=1"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}}
		return cmd
	}
	tests := "TestRunCommand|TestConfinement|TestTimeout|TestBackground|TestKilled|TestCancel|TestAbstractSocket"
	if asNobody("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "true").Run() == nil {
		tests += "|TestGitDirectoryIsSealed|TestSockets|TestNameServices|TestNeededDirectories|TestTmux|TestTerminals" // only namespaces seal it, and hide sockets
	}
	cmd := asNobody(binary, "-test.run", tests)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
