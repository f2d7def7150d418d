package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// editText lets the user change a text in the editor that Git would use, under
// the session's name, so that the editor sees a Markdown file. The file stays
// where it is, and the error says so, when the editor ends badly.
func (inv *invocation) editText(name string, text []byte) ([]byte, error) {
	git, err := inv.git()
	if err != nil {
		return nil, err
	}
	editor, err := git.Editor(inv.ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(git.StateDir(), 0o700); err != nil {
		return nil, fmt.Errorf("editing %q: %w", name, err)
	}
	dir, err := os.MkdirTemp(git.StateDir(), "edit-")
	if err != nil {
		return nil, fmt.Errorf("editing %q: %w", name, err)
	}
	path := filepath.Join(dir, filepath.Base(filepath.FromSlash(name))+".md")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("editing %q: %w", name, err), os.RemoveAll(dir))
	}
	cmd := exec.Command("sh", "-c", editor+` "$@"`, editor, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inv.in, inv.err, inv.err
	if inv.out.tty {
		cmd.Stdout = inv.out.file
	}
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("editing %q: the editor %q ended with: %w; the session is unchanged, and the text is in %q", name, editor, err, path)
	}
	changed, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("editing %q: %w", name, err)
	}
	return changed, os.RemoveAll(dir)
}
