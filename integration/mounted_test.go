package integration_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A mounted is a mount whose server is a child process of the test.
type mounted struct {
	tb     testing.TB
	dir    string
	repo   *site
	serve  *exec.Cmd
	stderr *lockedBuffer
	ended  chan struct{} // closed when the server has ended
}

// A lockedBuffer is written by a process and read by the test.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// mountAt mounts a repository's sessions and waits until the mount is usable.
func mountAt(tb testing.TB, repo *site, dir string) *mounted {
	tb.Helper()
	m := &mounted{tb: tb, dir: dir, repo: repo, stderr: &lockedBuffer{}}
	m.serve = repo.command(tb.Context(), "git-domarkx", "mount", "--foreground", dir)
	m.serve.Cancel = func() error { return m.serve.Process.Signal(syscall.SIGTERM) }
	var said lockedBuffer // the mount point, once the mount is usable
	m.serve.Stdout, m.serve.Stderr = &said, m.stderr
	m.serve.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := m.serve.Start(); err != nil {
		tb.Fatal(err)
	}
	m.ended = make(chan struct{})
	go func() {
		m.serve.Wait()
		close(m.ended)
	}()
	tb.Cleanup(func() {
		exec.Command("fusermount3", "-uqz", dir).Run()
		m.serve.Process.Kill()
		<-m.ended
		if errors.Is(probe(dir), syscall.ENOTCONN) {
			syscall.Unmount(dir, syscall.MNT_DETACH)
		}
	})
	deadline := time.Now().Add(30 * time.Second)
	for {
		select {
		case <-m.ended:
			tb.Fatalf("mount %s ended: %s", dir, m.stderr)
		default:
		}
		if strings.HasSuffix(said.String(), "\n") {
			// Do not use Stat: the kernel caches the attributes that a dead mount
			// reported.
			if _, err := os.ReadFile(filepath.Join(dir, "README.md")); err != nil {
				tb.Fatalf("mount %s said that it can be used: %v: %s", dir, err, m.stderr)
			}
			return m
		}
		if time.Now().After(deadline) {
			tb.Fatalf("mount %s is not usable after 30 s: %s", dir, m.stderr)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func probe(dir string) error {
	_, err := os.ReadDir(dir)
	return err
}

func (m *mounted) path(name string) string { return filepath.Join(m.dir, name) }

func (m *mounted) read(name string) string {
	m.tb.Helper()
	data, err := os.ReadFile(m.path(name))
	if err != nil {
		m.tb.Fatalf("%v\nthe mount says: %s", err, m.stderr)
	}
	return string(data)
}

// save truncates and rewrites a file. When it returns, the bytes must be durable.
func (m *mounted) save(name, content string) {
	m.tb.Helper()
	if err := os.WriteFile(m.path(name), []byte(content), 0o666); err != nil {
		m.tb.Fatalf("%v\nthe mount says: %s", err, m.stderr)
	}
}

// kill ends the server like the kernel's out-of-memory killer.
func (m *mounted) kill() {
	m.tb.Helper()
	if err := m.serve.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		m.tb.Fatal(err)
	}
	<-m.ended
}

// end unmounts like a user.
func (m *mounted) end() {
	m.tb.Helper()
	m.repo.domarkx("unmount", m.dir)
	eventually(m.tb, "the directory is an ordinary one again", func() bool {
		_, err := os.Stat(m.path("README.md"))
		return errors.Is(err, os.ErrNotExist)
	})
}
