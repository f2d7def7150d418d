package main

import "github.com/domarkx/domarkx/git-domarkx/mountd"

type mountCmd struct {
	pathOption
	Foreground bool   `help:"Stay in the foreground until the mount ends."`
	Dir        string `arg:"" optional:"" name:"DIR" help:"The directory; made when it is not there."`
}

func (mountCmd) Help() string {
	return `
Shows the repository's sessions as files:

    README.md                     what is what
    sessions/NAME.md              read-write; a save is a new snapshot
    snapshots/NAME/               every snapshot, as .md and .json; read-only
    messages/NAME/                every message; read-only; "workspace" in it leads to
                                  the version of the workspace that its calls left
    workspaces/NAME/              every version of a workspace, as directories; read-only
    errors/NAME.md                a save that did not parse or had to be merged, and why

Without DIR it is domarkx.mount.dir, else a directory under your runtime directory
($XDG_RUNTIME_DIR). The command returns when the mount is usable; a process of its own
serves it until "git domarkx unmount". A mount that died is cleaned up by the next one on
its directory.

When an editor's save returns, the bytes are on the disk; the snapshot follows within a
second. Saving what is there already makes none. A save that does not parse loses
nothing: the file keeps it, errors/ says what is wrong, and the session stays on its
last good snapshot.

In workspaces/ any program works as on files on the disk. All there belongs to nobody and
cannot be changed; "git domarkx checkout" writes a version to a directory of yours.

FUSE is needed: the package fuse3 on Debian and Ubuntu, macFUSE on macOS.

## Output

The directory. Inside it, commands use the repository that is mounted.

## Files

- ` + "`" + `.git/domarkx/mount.log` + "`" + `: what the process that serves a mount has to say.
`
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
