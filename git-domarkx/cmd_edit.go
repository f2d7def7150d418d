package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

type editCmd struct {
	sessionOption
	Name string `arg:"" name:"NAME" of:"session" help:"The session."`
}

func (c *editCmd) Run(inv *invocation, opened managers) error {
	file := editedFile{inv: inv, name: c.Name}
	edited, err := opened.sessions.Edit(inv.ctx, c.Name, func(text []byte) ([]byte, error) {
		next, err := file.edit(text)
		if err == nil {
			err = inv.settle(opened) // saves in mounts while the editor was open come first
		}
		return next, err
	})
	if err = file.clear(err, edited.Kept); err != nil {
		return err
	}
	mounts, err := inv.mounts()
	if err == nil {
		err = mounts.Dismiss(inv.ctx, edited.Stale)
	}
	if err != nil {
		inv.warn(fmt.Errorf("warning: the mount still shows the text that did not parse: %w; to drop it: rm errors/%s.md in the mount", err, c.Name))
	}
	switch {
	case edited.Merged:
		inv.say("%s changed meanwhile; both changes are in it now", c.Name)
	case !edited.Changed:
		inv.say("%s is unchanged", c.Name)
	}
	return c.printSession(inv, edited.Info, nil)
}

// An editedFile is a temporary file that the user changes in an editor. It exists until
// clear removes it, so that the text is not lost if a later step fails.
type editedFile struct {
	inv  *invocation
	name string // of the session
	path string // "" until the editor starts
	text []byte // the text that the editor started with
}

// edit opens a text in the editor that Git would use and returns the changed text. The file is named after the session and ends
// in .md, so that the editor recognises Markdown.
func (d *editedFile) edit(text []byte) ([]byte, error) {
	inv, name := d.inv, d.name
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
	d.path, d.text = path, text
	if err := inv.foreground(context.WithoutCancel(inv.ctx), inv.screen(), "sh", "-c", editor+` "$@"`, editor, path).Run(); err != nil {
		return nil, fmt.Errorf("editing %q: the editor %q ended with: %w; the session is unchanged", name, editor, err)
	}
	changed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("editing %q: the editor %q removed the file; the session is unchanged", name, editor)
	}
	if err != nil {
		return nil, fmt.Errorf("editing %q: %w", name, err)
	}
	return changed, nil
}

// clear removes the file if its text is stored elsewhere or has not changed. Otherwise it
// leaves the file, and adds its path to the error.
func (d *editedFile) clear(err error, kept bool) error {
	if d.path == "" {
		return err
	}
	now, unread := os.ReadFile(d.path)
	if err == nil || kept || unread == nil && bytes.Equal(now, d.text) {
		return errors.Join(err, os.RemoveAll(filepath.Dir(d.path)))
	}
	if errors.Is(unread, fs.ErrNotExist) {
		_ = os.Remove(filepath.Dir(d.path)) // stays if the editor left a backup in it
		return err
	}
	return fmt.Errorf("%w; the text is in %q", err, d.path)
}
