package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
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
		moved := false
		if workspace != "" {
			moved, warning = moveTo(running, cmd.Process.Pid, workspace)
		}
		if moved {
			return warning, nil // so it has a window
		}
		select {
		case <-running.Done():
		case <-time.After(settle):
		}
		var early *endedError
		if errors.As(context.Cause(running), &early) {
			return nil, early
		}
		return warning, nil
	}, nil
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
	if line := strings.TrimSpace(string(bytes.ToValidUTF8(text[:n], nil))); line != "" {
		return &endedError{line}
	}
	return &endedError{err.Error()}
}
