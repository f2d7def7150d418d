package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs/mountpoint"
)

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

The directory.

## Files

- ` + "`" + `.git/domarkx/mount.log` + "`" + `: what the process that serves a mount has to say.
`
}

// Run mounts the sessions.
func (c *mountCmd) Run(inv *invocation) error {
	dir, err := inv.mountDir(c.Dir)
	if err != nil {
		return err
	}
	mounts, err := inv.mounts()
	if err != nil {
		return err
	}
	ours, err := inv.noteOf(dir)
	if err != nil {
		return err
	}
	there, ok := mountAt(dir) // possibly the mount of another repository
	if i := slices.IndexFunc(mounts, func(m mountState) bool { return m.note == ours }); i >= 0 {
		there, ok = mounts[i], true
	}
	if ok && !there.dead {
		if err := there.answers(inv.ctx); err != nil {
			return fmt.Errorf("mounting on %q: %w: %w", dir, domarkx.ErrExists, err)
		}
		if there.note == ours {
			return c.printPath(inv, dir) // already mounted
		}
	}
	if err := makeMountPoint(dir); err != nil {
		return err
	}
	if c.Foreground {
		return inv.serve(dir)
	}
	if err := inv.startServer(dir); err != nil {
		return err
	}
	return c.printPath(inv, dir)
}

// makeMountPoint creates the directory. An existing one must be empty, because the mount
// would hide its contents. It does not look into a directory on which sessions are
// mounted, even by a dead server.
func makeMountPoint(dir string) error {
	if _, mounted := mountpoint.SourceOf(dir); mounted {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("creating the mount point: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("mounting on %q: %w", dir, err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("mounting on %q: %w: the directory is not empty; mount on an empty one", dir, domarkx.ErrInvalid)
	}
	return nil
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
