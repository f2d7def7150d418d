package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/fusefs"
)

// unmountDir returns the folder of the mount to end: the one that was named, else the
// one that mount would use, else that of the only mount of the repository.
func (inv *invocation) unmountDir(named string) (string, error) {
	dir, err := inv.mountDir(named)
	if err != nil || named != "" {
		return dir, err
	}
	if _, mounted := fusefs.SourceOf(dir); mounted {
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
		return "", usagef("the repository is mounted on several folders; name one of them: %s", strings.Join(dirs, ", "))
	}
	return dir, nil
}

// unmount ends a mount, and waits until its server has made snapshots of all that
// was saved.
func (inv *invocation) unmount(dir string) error {
	forServer := inv.getenv(unmountVariable) != ""
	m, noted := mountAt(dir)
	if noted && !m.dead && !forServer {
		if err := m.answers(inv.ctx); err != nil {
			printError(inv.err, fmt.Errorf("unmounting %q: %w", dir, err))
			return errNo
		}
	}
	err := fusefs.Unmount(inv.ctx, dir)
	var busy *fusefs.BusyError
	switch {
	case errors.As(err, &busy):
		printError(inv.err, err)
		return errNo
	case err != nil || forServer:
		return err
	}
	// What a dead one had beside it is dead too.
	if beside, err := inv.besideDir(dir); err == nil && beside != "" && fusefs.Recover(inv.ctx, beside) == nil {
		os.Remove(beside) // it may be gone, or not ours
	}
	if !noted {
		return nil
	}
	return awaitServer(inv.ctx, m)
}

// forceUnmount takes a mount off its folder, whoever uses it and whether or not its
// server answers. What was saved stays in the journal until the server or the next
// command makes snapshots of it.
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
	if err := fusefs.Detach(inv.ctx, dir, beside); err != nil {
		return err
	}
	if beside != "" {
		os.Remove(beside) // it may be gone, or not ours
	}
	switch {
	case !noted:
		return nil
	case hangs != nil || m.dead:
		if hangs != nil {
			printError(inv.err, fmt.Errorf("warning: %s; its saves stay pending until it runs again or ends", noAnswer(m.pid)))
		}
		return removeNote(m.note) // the folder is free for another server
	}
	ctx, cancel := context.WithTimeout(inv.ctx, patience)
	defer cancel()
	awaitServer(ctx, m) // it ends when nobody uses the mount any more
	return context.Cause(inv.ctx)
}
