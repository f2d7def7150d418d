package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// readyVariable is set for a server in the background whose parent waits for it. The
// server reports on file 3 that the mount is usable, or why it cannot serve.
const readyVariable = "GIT_DOMARKX_MOUNT_READY"

// usable is the report of a server whose mount programs can use.
const usable = "usable\n"

// mountLog returns the path of the log of servers in the background.
func mountLog(git *gitcmd.Git) string { return filepath.Join(git.StateDir(), "mount.log") }

// startServer starts this program again, in a session of its own, to serve a mount. It
// waits until the mount is usable.
func (inv *invocation) startServer(dir string) error {
	git, err := inv.git()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("mounting on %q: finding this program: %w", dir, err)
	}
	log, err := openLog(git)
	if err != nil {
		return err
	}
	defer log.Close()
	answer, ready, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("mounting on %q: %w", dir, err)
	}
	defer answer.Close()
	cmd := exec.Command(self, "mount", "--foreground", "--", dir)
	cmd.Env = append(os.Environ(), readyVariable+"=1")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{ready}
	detach(cmd)
	err = cmd.Start()
	ready.Close()
	if err != nil {
		return fmt.Errorf("mounting on %q: %w", dir, err)
	}
	said, err := inv.await(answer, cmd.Process)
	switch {
	case err != nil:
		return err
	case said == usable:
		return cmd.Process.Release()
	case said == "":
		return fmt.Errorf("mounting on %q: the process that serves it ended (%v); see %s", dir, cmd.Wait(), log.Name())
	}
	err = fmt.Errorf("%s; for details, run git domarkx doctor or see %s", strings.TrimSpace(said), log.Name())
	return errors.Join(err, ignoreExit(cmd.Wait()))
}

// await returns the report of a server. If the command is cancelled, it stops the server.
func (inv *invocation) await(answer io.Reader, server *os.Process) (string, error) {
	said := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(answer) // use whatever was read
		said <- string(data)
	}()
	select {
	case s := <-said:
		return s, nil
	case <-inv.ctx.Done():
		return "", errors.Join(context.Cause(inv.ctx), server.Signal(os.Interrupt))
	}
}

// ignoreExit drops the exit error of a server that has already reported why it cannot
// serve.
func ignoreExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// openLog opens the log of servers in the background. It truncates a log larger than 1
// MiB.
func openLog(git *gitcmd.Git) (*os.File, error) {
	const long = 1 << 20
	path := mountLog(git)
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > long {
		flags |= os.O_TRUNC
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		var log *os.File
		if log, err = os.OpenFile(path, flags, 0o600); err == nil {
			return log, nil
		}
	}
	if ignoreReadOnly(err) != nil {
		return nil, fmt.Errorf("opening the log of mounts: %w", err)
	}
	return os.OpenFile(os.DevNull, os.O_WRONLY, 0) // the repository is read-only
}

// waiter returns the file on which to report to the process that waits for this server;
// nil if none does.
func (inv *invocation) waiter() *os.File {
	if inv.getenv(readyVariable) == "" {
		return nil
	}
	os.Unsetenv(readyVariable)
	return os.NewFile(3, "ready")
}
