package main

import "fmt"

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
