// Package background starts a program that goes on after the command that started it, and
// lets the command wait until the program reports that it works or why it cannot.
package background

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// variable is set in the environment of a program whose parent waits for its report on file 3.
const variable = "GIT_DOMARKX_READY"

// ready is the report of a program that works.
const ready = "ready\n"

// An EndedError means that the program ended without a report.
type EndedError struct {
	State error // how it ended, as [exec.Cmd.Wait] says
}

func (e *EndedError) Error() string { return fmt.Sprintf("the process ended (%v)", e.State) }

// Start starts a program in a session of its own and waits until it calls Ready. If it calls Failed instead, that is the error;
// if it ends before, an *[EndedError]. If ctx is cancelled, Start interrupts the program.
func Start(ctx context.Context, cmd *exec.Cmd) error {
	answer, report, err := os.Pipe()
	if err != nil {
		return err
	}
	defer answer.Close()
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, variable+"=1")
	cmd.ExtraFiles = []*os.File{report}
	Detach(cmd)
	err = cmd.Start()
	report.Close()
	if err != nil {
		return err
	}
	said, err := await(ctx, answer, cmd.Process)
	switch {
	case err != nil:
		return err
	case said == ready:
		return nil
	case said == "":
		return &EndedError{cmd.Wait()}
	}
	_ = cmd.Wait() // it has said why it ends
	return errors.New(strings.TrimSpace(said))
}

func await(ctx context.Context, answer io.Reader, program *os.Process) (string, error) {
	said := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(answer) // use whatever was read
		said <- string(data)
	}()
	select {
	case s := <-said:
		return s, nil
	case <-ctx.Done():
		return "", errors.Join(context.Cause(ctx), program.Signal(os.Interrupt))
	}
}

// A Parent is the process that waits for this program's report.
type Parent struct{ file *os.File }

// Waiting returns the process that waits for this program's report; nil for none. Call it once: it
// clears the environment variable, so that child processes do not report to this parent.
func Waiting() *Parent {
	if os.Getenv(variable) == "" {
		return nil
	}
	os.Unsetenv(variable)
	return &Parent{os.NewFile(3, "ready")}
}

// Report ends the wait of the parent, if there is one: the program works if err is nil. Call it once.
func (p *Parent) Report(err error) error {
	if p == nil {
		return nil
	}
	text := ready
	if err != nil {
		text = err.Error()
	}
	_, written := io.WriteString(p.file, text)
	return errors.Join(written, p.file.Close())
}

// OpenLog opens the log of programs in the background, with its directory. It truncates a log larger than 1 MiB.
func OpenLog(path string) (*os.File, error) {
	const long = 1 << 20
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > long {
		flags |= os.O_TRUNC
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, flags, 0o600)
}
