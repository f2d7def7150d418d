package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/fusefs/mountpoint"
)

// unmountDir returns the mount point to unmount: the directory the user named, else the
// one that mount would use, else that of the repository's only mount.
func (inv *invocation) unmountDir(named string) (string, error) {
	dir, err := inv.mountDir(named)
	if err != nil || named != "" {
		return dir, err
	}
	if _, mounted := mountpoint.SourceOf(dir); mounted {
		return dir, nil
	}
	mounts, err := inv.mounts()
	switch {
	case err != nil:
		return "", err
	case len(mounts) == 1:
		return mounts[0].dir, nil
	case len(mounts) > 1:
		var dirs []string
		for _, m := range mounts {
			dirs = append(dirs, m.dir)
		}
		slices.Sort(dirs)
		return "", usagef("the repository is mounted on several directories; name one of them: %s", strings.Join(dirs, ", "))
	}
	return dir, nil
}

// unmount ends a mount, and waits until its server has created snapshots of all saves.
func (inv *invocation) unmount(dir string) error {
	forServer := inv.getenv(unmountVariable) != ""
	m, noted := mountAt(dir)
	if noted && !m.dead && !forServer {
		if err := m.answers(inv.ctx); err != nil {
			printError(inv.err, fmt.Errorf("unmounting %q: %w", dir, err))
			return errNo
		}
	}
	err := mountpoint.Unmount(inv.ctx, dir)
	var busy *mountpoint.BusyError
	switch {
	case errors.As(err, &busy):
		printError(inv.err, err)
		return errNo
	case err != nil || forServer:
		return err
	}
	// A dead mount may have a second, equally dead mount beside it.
	if beside, err := inv.besideDir(dir); err == nil && beside != "" && mountpoint.Recover(inv.ctx, beside) == nil {
		os.Remove(beside) // may not exist or not be ours
	}
	if !noted {
		return nil
	}
	return awaitServer(inv.ctx, m)
}

// forceUnmount detaches a mount from its directory, even if programs use it or its server
// does not answer. The saves stay in the journal until the server or the next command
// creates snapshots of them.
func (inv *invocation) forceUnmount(dir string) error {
	m, noted := mountAt(dir)
	var hangs error
	if noted && !m.dead {
		hangs = m.answers(inv.ctx)
	}
	beside, err := inv.besideDir(dir)
	if err != nil {
		return err
	}
	if err := mountpoint.Detach(inv.ctx, dir, beside); err != nil {
		return err
	}
	if beside != "" {
		os.Remove(beside) // may not exist or not be ours
	}
	switch {
	case !noted:
		return nil
	case hangs != nil || m.dead:
		if hangs != nil {
			printError(inv.err, fmt.Errorf("warning: %s; its saves stay pending until it runs again or ends", noAnswer(m.pid)))
		}
		return removeNote(m.note) // lets another server mount on the directory
	}
	ctx, cancel := context.WithTimeout(inv.ctx, patience)
	defer cancel()
	_ = awaitServer(ctx, m) // it ends when nobody uses the mount
	return context.Cause(inv.ctx)
}
