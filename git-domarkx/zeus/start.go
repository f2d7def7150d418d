package zeus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/background"
)

// shell returns the command line that starts the agent. It uses a login shell, as Zeus
// does, so that the user's PATH applies. The shell's command text is the user's own
// setting; the session path comes from an untrusted document, so the text refers to it as
// a variable.
func (t *Terminals) shell() []string {
	text := "exec " + t.Agent + ` --session "$ZEUS_SESSION_PATH"`
	if path, err := exec.LookPath("zsh"); err == nil {
		return []string{path, "-ilc", text}
	}
	return []string{"/bin/sh", "-c", text}
}

// settle is the maximum time that kitty needs to report that it cannot open a window.
const settle = 2 * time.Second

// startInKitty starts an agent in a new kitty instance that outlives this program. The
// returned function waits until it is known whether the start succeeded.
func (t *Terminals) startInKitty(ctx context.Context, e Entry, path, workspace string) (wait func() (warning, err error), err error) {
	program, err := exec.LookPath("kitty")
	if err != nil {
		return nil, fmt.Errorf("kitty: %w", errNotInstalled)
	}
	said, err := os.CreateTemp("", "git-domarkx-kitty-*")
	if err != nil {
		return nil, err
	}
	os.Remove(said.Name()) // the file exists as long as kitty has it open
	cmd := exec.Command(program, append([]string{"--directory", ".", "--hold"}, t.shell()...)...)
	cmd.Dir = e.Directory
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "ZEUS_PARENT_ID=") || strings.HasPrefix(v, "ZEUS_PHALANX_ID=")
	}),
		append(e.environment(path), "PWD="+e.Directory)...)
	cmd.Stderr = said
	background.Detach(cmd)
	if err := cmd.Start(); err != nil {
		said.Close()
		return nil, err
	}
	running, stop := context.WithCancelCause(ctx)
	go func() { stop(endedEarly(cmd.Wait(), said)) }()
	return func() (warning, err error) {
		defer said.Close()
		opened := awaitWindow(running, cmd.Process.Pid)
		if opened && workspace != "" {
			warning = moveTo(running, cmd.Process.Pid, workspace)
		}
		var early *endedError
		if errors.As(context.Cause(running), &early) {
			return nil, early
		}
		if !opened && ctx.Err() == nil {
			warning = errors.New("kitty has opened no window yet")
		}
		return warning, nil
	}, nil
}

// awaitWindow waits until kitty has started a program in a window, that is, until a
// descendant process has a terminal. Without /proc it waits long enough for kitty to fail
// if it has no display.
func awaitWindow(ctx context.Context, kitty int) bool {
	if _, _, ok := processOf(kitty); !ok {
		return !eventually(ctx, settle, func() bool { return false }) && ctx.Err() == nil
	}
	return eventually(ctx, maxWait, func() bool {
		entries, _ := os.ReadDir("/proc")
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}
			if _, terminal, _ := processOf(pid); terminal == 0 {
				continue
			}
			for ; pid > 1; pid, _, _ = processOf(pid) {
				if pid == kitty {
					return true
				}
			}
		}
		return false
	})
}

// processOf returns a process's parent and its terminal number (0 for none), from
// proc(5).
func processOf(pid int) (parent, terminal int, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // the process name can contain any character
	if len(fields) < 5 {
		return 0, 0, false
	}
	parent, _ = strconv.Atoi(fields[1])
	terminal, _ = strconv.Atoi(fields[4])
	return parent, terminal, true
}

// An endedError explains why kitty ended.
type endedError struct{ said string }

func (e *endedError) Error() string { return "kitty ended: " + e.said }

// endedEarly returns the reason why a newly started kitty ended; [context.Canceled] if it
// succeeded.
func endedEarly(err error, said *os.File) error {
	if err == nil {
		return context.Canceled
	}
	var text [1000]byte
	n, _ := said.ReadAt(text[:], 0)
	if line, _, _ := strings.Cut(strings.TrimSpace(string(bytes.ToValidUTF8(text[:n], nil))), "\n"); line != "" {
		return &endedError{line}
	}
	return &endedError{err.Error()}
}
