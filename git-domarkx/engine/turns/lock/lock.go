// Package lock lets one process at a time be in the middle of a turn of a session.
package lock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A BusyError means that another process is in the middle of a turn of a session.
type BusyError struct {
	Session string
	Command string // "chat" or "run"; "" if unknown
	Process int    // 0 if unknown
}

// Error returns a message that names the process.
func (e *BusyError) Error() string {
	who := "another process"
	if e.Command != "" && e.Process != 0 {
		who = fmt.Sprintf("git domarkx %s, process %d,", e.Command, e.Process)
	}
	return fmt.Sprintf("session %q: %s is in the middle of a turn; wait until it ends, or end that process", e.Session, who)
}

// Turn prevents other processes from beginning a turn of a session until the returned
// function is called or this process ends. If there is a turn already, it returns a [*BusyError]. In
// a repository that cannot be written, it locks nothing: whatever the turn then stores fails.
func Turn(ctx context.Context, stateDir, session, command string) (unlock func(), err error) {
	path := filepath.Join(stateDir, "turns", local.FileName(session)+".turn")
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return func() {}, readOnlyIsFine(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return func() {}, readOnlyIsFine(err)
	}
	if err := take(ctx, f, session, command); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil // the file stays: a process that has it open may lock it next
}

func take(ctx context.Context, f *os.File, session, command string) error {
	err := atomicfile.TryLock(f)
	if errors.Is(err, atomicfile.ErrLocked) {
		if _, process := owner(f); process != 0 && !atomicfile.IsAlive(process) {
			err = waitForLock(ctx, f)
		}
	}
	if errors.Is(err, atomicfile.ErrLocked) {
		command, process := owner(f)
		return &BusyError{session, command, process}
	}
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteAt([]byte(command+" "+strconv.Itoa(os.Getpid())+"\n"), 0)
		}
	}
	if err != nil {
		return fmt.Errorf("session %q: locking it for a turn: %w", session, err)
	}
	return nil
}

// waitForLock waits for a lock whose owner was killed: the system may release it only a little later,
// or a new owner has not written its name yet.
func waitForLock(ctx context.Context, f *os.File) error {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := atomicfile.Lock(ctx, f)
	if errors.Is(err, context.DeadlineExceeded) {
		return atomicfile.ErrLocked
	}
	return err
}

func readOnlyIsFine(err error) error {
	if errors.Is(err, syscall.EROFS) || errors.Is(err, os.ErrPermission) {
		return nil
	}
	return fmt.Errorf("locking a session for a turn: %w", err)
}

// owner reads who locked a file. The process may be about to write it.
func owner(f *os.File) (command string, process int) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 100))
	if err != nil {
		return "", 0
	}
	command, number, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	process, err = strconv.Atoi(number)
	if err != nil {
		return "", 0
	}
	return command, process
}
