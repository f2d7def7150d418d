//go:build linux

package fusefs_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/fusefs/internal/storetest"
	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
)

// serveVariable makes the test binary serve a mount. A test must not serve a mount that
// it starts programs in: fork and exec stop its threads, so it could wait for itself.
const serveVariable = "FUSEFS_TEST_SERVE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serveVariable); dir != "" {
		if err := serve(dir, os.Getenv(serveVariable+"_READONLY") != ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(tests{m})
}

type tests struct{ *testing.M }

func (t tests) Run() int {
	flag.Parse()
	flag.Set("test.parallel", "8") // they mostly wait until a save is a snapshot
	return shorttest.Main(t.M)
}

// serve mounts dir/mnt, says so on stdout, and serves until it is unmounted or
// stdin ends.
func serve(dir string, readOnly bool) error {
	s, err := mountHere(dir, readOnly)
	if err != nil {
		return err
	}
	fmt.Println("mounted")
	go func() {
		io.Copy(io.Discard, os.Stdin)
		s.TryUnmount(context.Background())
	}()
	return s.Wait()
}

func mountHere(dir string, readOnly bool) (*fusefs.Server, error) {
	store, err := storetest.New(filepath.Join(dir, "store"))
	if err != nil {
		return nil, err
	}
	workspaces, err := storetest.NewWorkspaces(filepath.Join(dir, "workspaces"))
	if err != nil {
		return nil, err
	}
	beside := ""
	if os.Getenv(serveVariable+"_BESIDE") != "" || os.Geteuid() != 0 {
		beside = filepath.Join(dir, "beside")
	}
	return fusefs.Mount(context.Background(), fusefs.Options{
		WorkspaceSource: fusefs.WorkspaceSource{Workspaces: workspaces, Contents: workspaces, Beside: beside},
		Changing:        fusefs.Changing{Saver: store, Drafts: filepath.Join(dir, "drafts")},
		Dir:             filepath.Join(dir, "mnt"), Label: dir, ReadOnly: readOnly,
		Sessions: store, Snapshots: source{store, workspaces},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}

// source is the store in the forms that the mount shows.
type source struct {
	*storetest.Store
	workspaces *storetest.Workspaces
}

func (s source) Link(_ context.Context, id string, k int) (string, error) {
	return s.workspaces.Linked(id, k)
}

func (s source) Render(ctx context.Context, id string, form fusefs.Form) ([]byte, error) {
	data, err := s.Markdown(ctx, id)
	return inForm(data, form, err)
}

func (s source) Size(ctx context.Context, id string, form fusefs.Form) (int64, error) {
	data, err := s.Render(ctx, id, form)
	return int64(len(data)), err
}

func (s source) Message(ctx context.Context, id string, k int, form fusefs.Form) ([]byte, error) {
	data, err := s.Store.Message(ctx, id, k)
	return inForm(data, form, err)
}

func inForm(data []byte, form fusefs.Form, err error) ([]byte, error) {
	if err != nil || form == fusefs.Markdown {
		return data, err
	}
	return json.Marshal(map[string]string{"text": string(data)})
}

// A mount is a mount that another process serves.
type mount struct {
	testing.TB
	dir    string // holds mnt, store and drafts
	mnt    string
	below  string // where in sessions/ scripts run
	store  *storetest.Store
	spaces *storetest.Workspaces
	server *exec.Cmd
	stdin  io.Closer
	stderr *said
}

// said collects the standard error of a server.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Len returns the number of bytes.
func (s *said) Len() int { return len(s.String()) }

// base returns where mounts are: not below the directory of temporary files, which vim treats
// otherwise. In a short run that is in memory, and this is beside it.
func base() string {
	if dir := filepath.Dir(os.TempDir()); testing.Short() && dir == "/dev/shm" {
		return dir
	}
	return "/var/tmp"
}

// mounted starts a mount that ends with the test.
func mounted(t testing.TB, environ ...string) *mount {
	t.Helper()
	dir, err := os.MkdirTemp(base(), "fusefs-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	store, err := storetest.New(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "mnt"), 0o700); err != nil {
		t.Fatal(err)
	}
	spaces, err := storetest.NewWorkspaces(filepath.Join(dir, "workspaces"))
	if err != nil {
		t.Fatal(err)
	}
	m := &mount{TB: t, dir: dir, mnt: filepath.Join(dir, "mnt"), store: store, spaces: spaces}
	m.start(environ...)
	t.Cleanup(m.stop)
	return m
}

func (m *mount) start(environ ...string) {
	m.Helper()
	self, err := os.Executable()
	if err != nil {
		m.Fatal(err)
	}
	m.server = exec.Command(self)
	m.server.Env = append(append(os.Environ(), serveVariable+"="+m.dir), environ...)
	m.stderr = &said{}
	m.server.Stderr = m.stderr
	if m.stdin, err = m.server.StdinPipe(); err != nil {
		m.Fatal(err)
	}
	out, err := m.server.StdoutPipe()
	if err != nil {
		m.Fatal(err)
	}
	if err := m.server.Start(); err != nil {
		m.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "mounted\n" {
		m.server.Wait()
		m.Fatalf("mounting: %q, %v\n%s", line, err, m.stderr)
	}
}

// stop unmounts, and waits until all is saved.
func (m *mount) stop() {
	m.Helper()
	if m.server == nil {
		return
	}
	m.stdin.Close()
	server := m.server.Process
	stuck := time.AfterFunc(30*time.Second, func() { // a failed test left it busy
		syscall.Unmount(m.mnt, unix.MNT_DETACH)
		server.Kill()
	})
	err := m.server.Wait()
	stuck.Stop()
	m.server = nil
	if err != nil {
		m.Errorf("serving the mount: %v", err)
	}
	if m.stderr.Len() > 0 && m.Failed() {
		m.Logf("the mount says: %s", m.stderr)
	}
}

// kill ends the serving process as kill -9 does.
func (m *mount) kill() {
	m.Helper()
	if err := m.server.Process.Kill(); err != nil {
		m.Fatal(err)
	}
	m.server.Wait()
	m.server = nil
}

func (m *mount) path(name string) string { return filepath.Join(m.mnt, name) }

// sh runs a script in sessions/, or below it, and returns its output.
func (m *mount) sh(script string) string {
	m.Helper()
	out, err := m.trySh(script)
	if err != nil {
		m.Fatalf("%s: %v\n%s", script, err, out)
	}
	return out
}

func (m *mount) trySh(script string) (string, error) {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = filepath.Join(m.path("sessions"), m.below)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "M="+m.mnt, "T="+m.dir, "HOME="+m.dir, "TERM=xterm", "LC_ALL=C.UTF-8")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	stuck := time.AfterFunc(2*time.Minute, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stuck.Stop()
	err := cmd.Wait()
	return out.String(), err
}

func (m *mount) read(name string) string {
	m.Helper()
	data, err := os.ReadFile(m.path(name))
	if err != nil {
		m.Fatal(err)
	}
	return string(data)
}

func (m *mount) save(name, content string) {
	m.Helper()
	if err := os.WriteFile(m.path(name), []byte(content), 0o644); err != nil {
		m.Fatal(err)
	}
}

// outside makes a snapshot as another process would.
func (m *mount) outside(name, content string) domarkx.Info {
	m.Helper()
	info, err := m.store.Write(m.Context(), name, content)
	if err != nil {
		m.Fatal(err)
	}
	return info
}

// stored returns the texts of a session's snapshots, the newest last; nil when
// there is none.
func (m *mount) stored(name string) []string {
	m.Helper()
	history, err := m.store.History(m.Context(), name)
	if errors.Is(err, domarkx.ErrNotFound) {
		return nil
	}
	if err != nil {
		m.Fatal(err)
	}
	var all []string
	for _, info := range history {
		data, err := m.store.Markdown(m.Context(), info.ID)
		if err != nil {
			m.Fatal(err)
		}
		all = append(all, string(data))
	}
	return all
}

// eventually waits until a condition holds, for longer than any save may take.
func (m *mount) eventually(what string, holds func() bool) {
	m.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			m.Fatalf("it does not come about: %s; the mount says %s", what, m.stderr)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// settle waits until nothing is in the journal that is to become a snapshot.
func (m *mount) settle() {
	m.Helper()
	m.eventually("all saves are snapshots", func() bool {
		var waiting int
		filepath.WalkDir(filepath.Join(m.dir, "drafts"), func(p string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(p, ".draft") {
				if data, err := os.ReadFile(p); err == nil && (bytes.Contains(data, []byte(`"state":"saved"`)) || bytes.Contains(data, []byte(`"state":"removed"`))) {
					waiting++
				}
			}
			return nil
		})
		return waiting == 0
	})
}

// expect checks the snapshots of a session after the saves have settled.
func (m *mount) expect(name string, want ...string) {
	m.Helper()
	m.settle()
	got := m.stored(name)
	if len(got) != len(want) {
		m.Fatalf("%s has %d snapshots, want %d: %q", name, len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			m.Errorf("snapshot %d of %s is %q, want %q", i+1, name, got[i], want[i])
		}
	}
}

// sessions returns the names of all stored sessions.
func (m *mount) sessions() string {
	m.Helper()
	m.settle()
	all, err := m.store.List(m.Context(), "")
	if err != nil {
		m.Fatal(err)
	}
	var names []string
	for _, info := range all {
		names = append(names, info.Name)
	}
	return strings.Join(names, " ")
}

// background starts a script in sessions/ that the test ends.
func (m *mount) background(script string) *exec.Cmd {
	m.Helper()
	cmd := exec.Command("sh", "-c", "exec "+script)
	if strings.Contains(script, ";") {
		cmd = exec.Command("sh", "-c", script)
		in, err := cmd.StdinPipe()
		if err != nil {
			m.Fatal(err)
		}
		m.Cleanup(func() { in.Close() })
	}
	cmd.Dir = m.path("sessions")
	cmd.Env = append(os.Environ(), "M="+m.mnt)
	if err := cmd.Start(); err != nil {
		m.Fatal(err)
	}
	return cmd
}

// slow skips a test that mostly waits or kills when the tests are run with -short.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes seconds; run the tests without -short")
	}
}
