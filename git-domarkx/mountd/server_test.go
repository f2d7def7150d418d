//go:build unix

package mountd_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// repositoryVariable names the repository whose mount this test binary serves. Start and
// a server that ends run the program again, with the words of the command line.
const repositoryVariable = "MOUNTD_TEST_REPOSITORY"

func TestMain(m *testing.M) {
	dir := os.Getenv(repositoryVariable)
	if dir == "" || len(os.Args) < 2 || os.Args[1] != "mount" && os.Args[1] != "unmount" {
		os.Exit(shorttest.Main(m))
	}
	if err := command(dir, os.Args[1], os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command is the part of the program that the package runs.
func command(repository, word, dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	git, err := gitcmd.Discover(ctx, repository, nil)
	if err != nil {
		return err
	}
	mounts := &mountd.Mounts{Git: git, Getenv: os.Getenv, Warn: func(err error) { fmt.Fprintln(os.Stderr, err) }, Log: os.Stderr}
	if word == "unmount" {
		return mounts.Unmount(ctx, dir)
	}
	var opened mountd.Sessions
	err = mounts.Serve(ctx, dir, func() (mountd.Sessions, error) {
		opened, err = open(ctx, git)
		return opened, err
	}, func() error { return nil })
	if opened.Store != nil {
		err = errors.Join(err, opened.Store.Close())
	}
	return err
}

func open(ctx context.Context, git *gitcmd.Git) (mountd.Sessions, error) {
	if _, err := os.Stat(filepath.Join(git.CommonDir, "unreadable")); err == nil {
		return mountd.Sessions{}, errors.New("the sessions are unreadable")
	}
	store, err := gitstore.Open(ctx, git)
	if err != nil {
		return mountd.Sessions{}, err
	}
	ada := func(context.Context) (author, committer domarkx.Signature, err error) {
		who := domarkx.Signature{Name: "Ada", Email: "ada@example.org", When: time.Now()}
		return who, who, nil
	}
	env := local.Environment{StateDir: git.StateDir(), WorkTree: git.WorkTree, Identity: ada}
	sessions := engine.New(store, all.Codecs(), env, enginetest.NoRedactor{})
	return mountd.Sessions{Store: store, Sessions: sessions, Turns: turns.New(sessions, trust.New(store, env), store, env)}, nil
}

// start mounts a new repository's sessions, and unmounts them when the test ends.
func start(t *testing.T) (mounts *mountd.Mounts, dir string) {
	t.Helper()
	repository := gittest.Init(t)
	t.Setenv(repositoryVariable, repository)
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	mounts, dir = mountsOf(t, repository, map[string]string{"XDG_RUNTIME_DIR": t.TempDir()}), filepath.Join(t.TempDir(), "mnt")
	if _, err := mounts.Prepare(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if list, err := mounts.List(); err == nil && len(list) > 0 {
			for _, m := range list {
				if err := syscall.Kill(m.PID, syscall.SIGCONT); err != nil && !m.Dead {
					t.Error(err)
				}
			}
			if err := mounts.Detach(context.Background(), dir); err != nil {
				t.Error(err)
			}
		}
	})
	if err := mounts.Start(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return mounts, dir
}

// only returns the only mount of a repository.
func only(t *testing.T, mounts *mountd.Mounts) mountd.Mount {
	t.Helper()
	list, err := mounts.List()
	if err != nil || len(list) != 1 {
		t.Fatalf("got %v, %v; expected one mount", list, err)
	}
	return list[0]
}

func TestServer(t *testing.T) {
	mounts, dir := start(t)
	m := only(t, mounts)
	if m.Dir != dir || m.Dead || m.PID == os.Getpid() {
		t.Errorf("got %+v", m)
	}
	if got := m.Describe(t.Context()); got != fmt.Sprintf("served by process %d", m.PID) {
		t.Errorf("described as %q", got)
	}
	if mounted, err := mounts.Prepare(t.Context(), dir); err != nil || !mounted {
		t.Errorf("mounting again: got %v, %v; expected that it is mounted", mounted, err)
	}
	if found, err := mounts.Mounted(t.Context(), ""); err != nil || found != dir {
		t.Errorf("the only mount is %q, %v; expected %q", found, err, dir)
	}
	save(t, dir, "plan")
	opened, err := open(t.Context(), mounts.Git)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Store.Close()
	if pending, err := mounts.Settle(t.Context(), opened, time.Minute); err != nil || len(pending) > 0 {
		t.Errorf("after a save: pending %v, %v", pending, err)
	}
	if err := opened.Store.Refresh(); err != nil {
		t.Fatal(err)
	}
	if info, err := opened.Store.Tip(t.Context(), "plan"); err != nil || info.Messages != 1 {
		t.Errorf("got %+v, %v; expected the session that was saved", info, err)
	}
	if err := mounts.Unmount(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if list, err := mounts.List(); err != nil || len(list) > 0 {
		t.Errorf("got %v, %v after the end", list, err)
	}
	if left, err := filepath.Glob(filepath.Join(mounts.Git.StateDir(), "mounts", "*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v: left behind", left, err)
	}
}

func save(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "sessions", name+".md"), []byte("## user\n\nhello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestUnmountOfABusyMount(t *testing.T) {
	if testing.Short() {
		t.Skip("the unmount is tried for four seconds")
	}
	mounts, dir := start(t)
	file, err := os.Open(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var refused *mountd.RefusedError
	if err := mounts.Unmount(t.Context(), dir); !errors.As(err, &refused) || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v, expected that the mount is in use", err)
	}
	if _, err := file.Stat(); err != nil {
		t.Errorf("a mount that was not ended: %v", err)
	}
	if err := mounts.Detach(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("got %v, %v; expected an empty directory", entries, err)
	}
}

func TestStoppedServer(t *testing.T) {
	mounts, dir := start(t)
	m := only(t, mounts)
	if err := syscall.Kill(m.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	advice := fmt.Sprintf("kill -CONT %d", m.PID)
	awaitState(t, m, advice)
	var refused *mountd.RefusedError
	if err := mounts.Unmount(t.Context(), dir); !errors.As(err, &refused) || !strings.Contains(err.Error(), advice) {
		t.Errorf("unmounting: got %v, expected %q", err, advice)
	}
	if _, err := mounts.Prepare(t.Context(), dir); !errors.Is(err, domarkx.ErrExists) {
		t.Errorf("mounting again: got %v, expected %v", err, domarkx.ErrExists)
	}
	var warned []error
	mounts.Warn = func(err error) { warned = append(warned, err) }
	mounts.WarnOfSilent(t.Context())
	if len(warned) != 1 || !strings.Contains(warned[0].Error(), advice) {
		t.Errorf("warned %v, expected %q", warned, advice)
	}
}

// awaitState waits until a mount is described in certain words.
func awaitState(t *testing.T, m mountd.Mount, words string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(m.Describe(t.Context()), words); {
		if time.Now().After(deadline) {
			t.Fatalf("described as %q, expected %q", m.Describe(t.Context()), words)
		}
	}
}

// TestKilledServer checks that a save outlives the server that acknowledged it.
func TestKilledServer(t *testing.T) {
	mounts, dir := start(t)
	m := only(t, mounts)
	save(t, dir, "kept")
	if err := syscall.Kill(m.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !only(t, mounts).Dead; {
		if time.Now().After(deadline) {
			t.Fatal("the mount of a killed server is not dead")
		}
	}
	if got := only(t, mounts).Describe(t.Context()); got != "dead: git domarkx mount "+dir {
		t.Errorf("described as %q", got)
	}
	opened, err := open(t.Context(), mounts.Git)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Store.Close()
	if pending, err := mounts.Settle(t.Context(), opened, time.Minute); err != nil || len(pending) > 0 {
		t.Errorf("pending %v, %v", pending, err)
	}
	if info, err := opened.Store.Tip(t.Context(), "kept"); err != nil || info.Messages != 1 {
		t.Errorf("got %+v, %v; expected the session that was saved", info, err)
	}
	notes, _ := filepath.Glob(filepath.Join(mounts.Git.StateDir(), "mounts", "*[^t]")) // not the socket
	dying, err := os.Open(notes[0])
	if err != nil || atomicfile.TryLock(dying) != nil {
		t.Fatal(notes, err)
	}
	time.AfterFunc(50*time.Millisecond, func() { dying.Close() }) // as a killed process that has not ended yet
	if mounted, err := mounts.Prepare(t.Context(), dir); err != nil || mounted {
		t.Fatalf("got %v, %v; expected that the directory can be mounted on", mounted, err)
	}
	if err := mounts.Start(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(filepath.Join(dir, "sessions")); err != nil || !slices.ContainsFunc(names, func(e os.DirEntry) bool { return e.Name() == "kept.md" }) {
		t.Errorf("mounted again: got %v, %v", names, err)
	}
}

func TestServerThatCannotServe(t *testing.T) {
	repository := gittest.Init(t)
	t.Setenv(repositoryVariable, repository)
	mounts, dir := mountsOf(t, repository, map[string]string{"XDG_RUNTIME_DIR": t.TempDir()}), t.TempDir()
	if err := os.WriteFile(filepath.Join(mounts.Git.CommonDir, "unreadable"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := mounts.Start(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "the sessions are unreadable") || !strings.Contains(err.Error(), "mount.log") {
		t.Errorf("got %v, expected the server's reason and its log", err)
	}
	if list, err := mounts.List(); err != nil || len(list) > 0 {
		t.Errorf("got %v, %v; expected no mount", list, err)
	}
}

func TestSeveralMounts(t *testing.T) {
	mounts, first := start(t)
	second := filepath.Join(t.TempDir(), "second")
	if _, err := mounts.Prepare(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if err := mounts.Start(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	var ambiguous *mountd.AmbiguousError
	if _, err := mounts.Mounted(t.Context(), ""); !errors.As(err, &ambiguous) || len(ambiguous.Dirs) != 2 {
		t.Errorf("got %v, expected two mounts", err)
	}
	if err := (&mountd.Mounts{Getenv: mounts.Getenv, Warn: mounts.Warn, Log: io.Discard}).Unmount(t.Context(), second); err != nil {
		t.Errorf("unmounting outside the repository: %v", err)
	}
	if found, err := mounts.Mounted(t.Context(), ""); err != nil || found != first {
		t.Errorf("got %q, %v; expected %q", found, err, first)
	}
}

// TestForeignMount checks that a directory with another file system is not taken for a
// mount of sessions.
func TestForeignMount(t *testing.T) {
	mounts := mountsOf(t, gittest.Init(t), map[string]string{"XDG_RUNTIME_DIR": t.TempDir()})
	dir := t.TempDir()
	if err := mounts.Unmount(t.Context(), dir); err == nil {
		t.Error("a directory on which nothing is mounted was unmounted")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("mounting a tmpfs takes root: %v: %s", err, out)
	}
	defer exec.Command("umount", dir).Run()
	if err := mounts.Unmount(t.Context(), dir); err == nil {
		t.Error("a mount that is not ours was unmounted")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
