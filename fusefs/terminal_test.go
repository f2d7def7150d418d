//go:build linux

package fusefs_test

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A terminal runs a program in sessions/ as a person at a terminal does.
type terminal struct {
	*mount
	cmd    *exec.Cmd
	pty    *os.File
	mu     sync.Mutex
	shown  bytes.Buffer // since the last expect
	all    bytes.Buffer
	closed chan struct{}
}

// terminal starts a program.
func (m *mount) terminal(command ...string) *terminal {
	m.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		m.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(pty.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(pty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		m.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		m.Fatal(err)
	}
	t := &terminal{mount: m, pty: pty, closed: make(chan struct{})}
	t.cmd = exec.Command(command[0], command[1:]...)
	t.cmd.Dir = m.path("sessions")
	t.cmd.Env = append(os.Environ(), "HOME="+m.dir, "TERM=xterm", "LC_ALL=C.UTF-8")
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = tty, tty, tty
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := t.cmd.Start(); err != nil {
		m.Fatal(err)
	}
	tty.Close()
	m.Cleanup(func() { t.cmd.Process.Kill() })
	go func() {
		defer close(t.closed)
		buffer := make([]byte, 4096)
		for {
			n, err := pty.Read(buffer)
			t.mu.Lock()
			t.shown.Write(buffer[:n])
			t.all.Write(buffer[:n])
			t.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return t
}

// expect waits until the program has shown a text, and forgets all up to it.
func (t *terminal) expect(text string) *terminal {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		t.mu.Lock()
		i := bytes.Index(t.shown.Bytes(), []byte(text))
		if i >= 0 {
			t.shown.Next(i + len(text))
		}
		all := t.all.String()
		t.mu.Unlock()
		if i >= 0 {
			return t
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not show %q, but %q", t.cmd.Args[0], text, all)
		}
	}
}

// press presses keys.
func (t *terminal) press(keys string) *terminal {
	t.Helper()
	if _, err := t.pty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	return t
}

// end waits until the program has ended, and returns all that it showed.
func (t *terminal) end() string {
	t.Helper()
	stuck := time.AfterFunc(time.Minute, func() { t.cmd.Process.Kill() })
	defer stuck.Stop()
	err := t.cmd.Wait()
	<-t.closed // whoever the program started has ended too
	t.pty.Close()
	if err != nil {
		t.Errorf("%s: %v; it shows %q", t.cmd.Args[0], err, t.all.String())
	}
	return t.all.String()
}
