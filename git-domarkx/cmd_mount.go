package main

import "github.com/domarkx/domarkx/git-domarkx/mountd"

type mountCmd struct {
	pathOption
	Foreground bool   `help:"Stay in the foreground until the mount ends."`
	Dir        string `arg:"" optional:"" name:"DIR" help:"The directory; made when it is not there."`
}

func (c *mountCmd) Run(inv *invocation) error {
	mounts, err := inv.mounts()
	if err != nil {
		return err
	}
	dir, err := mounts.Dir(inv.ctx, c.Dir)
	if err != nil {
		return err
	}
	if missing := missingForMount(); len(missing) > 0 {
		return missing[0]
	}
	switch ours, err := mounts.Prepare(inv.ctx, dir); {
	case err != nil:
		return err
	case ours:
		return c.printPath(inv, dir) // already mounted
	case c.Foreground:
		return c.serve(inv, mounts, dir)
	}
	if err := mounts.Start(inv.ctx, dir); err != nil {
		return err
	}
	return c.printPath(inv, dir)
}

// serve serves the mount until it ends.
func (c *mountCmd) serve(inv *invocation, mounts *mountd.Mounts, dir string) error {
	open := func() (mountd.Sessions, error) {
		opened, err := inv.openStored()
		setGCPercent(inv.getenv, 100) // unlike a command, a server runs for days
		return opened.mounted(), err
	}
	return mounts.Serve(inv.ctx, dir, open, func() error { return printLine(inv, dir) })
}

func printLine(inv *invocation, line string) error {
	if inv.out.tty {
		line = visible(line)
	}
	if _, err := inv.out.WriteString(line + "\n"); err != nil {
		return err
	}
	return inv.out.Flush()
}
