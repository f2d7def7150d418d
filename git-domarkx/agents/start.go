package agents

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
)

// shell returns the command that becomes the agent: a login shell, as Zeus starts it,
// so that the user's PATH holds. Its text is the user's own setting; the session's
// path, which a document says, is a variable to it.
func (d *Desk) shell() []string {
	text := "exec " + d.Agent + ` --session "$ZEUS_SESSION_PATH"`
	if path, err := exec.LookPath("zsh"); err == nil {
		return []string{path, "-ilc", text}
	}
	return []string{"/bin/sh", "-c", text}
}

// settle is how long a kitty that cannot open a window takes at most to say so.
const settle = 2 * time.Second

// startInKitty starts an agent in a kitty of its own, which outlives this program.
// What is returned waits until it is known whether that went well.
func (d *Desk) startInKitty(ctx context.Context, e Entry, path, workspace string) (wait func() (warning, err error), err error) {
	program, err := exec.LookPath("kitty")
	if err != nil {
		return nil, fmt.Errorf("kitty: %w", errNotInstalled)
	}
	said, err := os.CreateTemp("", "git-domarkx-kitty-*")
	if err != nil {
		return nil, err
	}
	os.Remove(said.Name()) // it lives as long as kitty has it open
	cmd := exec.Command(program, append([]string{"--directory", ".", "--hold"}, d.shell()...)...)
	cmd.Dir = e.Folder
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "ZEUS_PARENT_ID=") || strings.HasPrefix(v, "ZEUS_PHALANX_ID=")
	}),
		append(e.environment(path), "PWD="+e.Folder)...)
	cmd.Stderr = said
	detach(cmd)
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

// awaitWindow waits until a kitty has started a program in a window: one below it has
// a terminal. Where that cannot be seen, it waits for as long as a kitty takes that
// finds no screen.
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

// processOf returns the parent of a process and the number of its terminal, 0 for
// none, as proc(5) has them.
func processOf(pid int) (parent, terminal int, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // the name before may have anything in it
	if len(fields) < 5 {
		return 0, 0, false
	}
	parent, _ = strconv.Atoi(fields[1])
	terminal, _ = strconv.Atoi(fields[4])
	return parent, terminal, true
}

// An endedError says why a kitty ended.
type endedError struct{ said string }

func (e *endedError) Error() string { return "kitty ended: " + e.said }

// endedEarly says why a kitty ended that was just started; [context.Canceled] when
// nothing was wrong.
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
