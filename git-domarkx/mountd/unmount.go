package mountd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/fusefs/mountpoint"
)

// An AmbiguousError reports that the repository is mounted on several directories and that the user named none.
type AmbiguousError struct{ Dirs []string }

func (e *AmbiguousError) Error() string {
	return "the repository is mounted on several directories; name one of them: " + strings.Join(e.Dirs, ", ")
}

// A RefusedError reports that a mount was not changed, because programs use it or because its server does not answer.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// Mounted returns the mount point to unmount: the directory that the user named, else the one from [Mounts.Dir] if it is mounted,
// else that of the repository's only mount. If there are several mounts, the error is an [*AmbiguousError].
func (m *Mounts) Mounted(ctx context.Context, named string) (string, error) {
	dir, err := m.Dir(ctx, named)
	if err != nil || named != "" {
		return dir, err
	}
	if _, mounted := mountpoint.SourceOf(dir); mounted {
		return dir, nil
	}
	mounts, err := m.List()
	var dirs []string
	for _, m := range mounts {
		dirs = append(dirs, m.Dir)
	}
	switch slices.Sort(dirs); {
	case err != nil:
		return "", err
	case len(dirs) == 1:
		return dirs[0], nil
	case len(dirs) > 1:
		return "", &AmbiguousError{dirs}
	}
	return dir, nil
}

// Unmount ends a mount, and waits until its server has created snapshots of all saves. If
// the error is a [*RefusedError], the mount has not changed.
func (m *Mounts) Unmount(ctx context.Context, dir string) error {
	forServer := m.Getenv(unmountVariable) != ""
	mount, noted := mountAt(dir)
	if noted && !mount.Dead && !forServer {
		if err := mount.Answers(ctx); err != nil {
			return &RefusedError{fmt.Errorf("unmounting %q: %w", dir, err)}
		}
	}
	err := mountpoint.Unmount(ctx, dir)
	switch _, busy := errors.AsType[*mountpoint.BusyError](err); {
	case busy:
		return &RefusedError{err}
	case err != nil || forServer:
		return err
	}
	// The workspaces of a dead mount may be mounted beside it, by a server that is dead, too.
	if beside, err := m.besideDir(dir); err == nil && beside != "" && mountpoint.Recover(ctx, beside) == nil {
		os.Remove(beside) // fails if it does not exist, or has files of others
	}
	if !noted {
		return nil
	}
	return mount.awaitEnd(ctx)
}

// Detach detaches a mount from its directory, even if programs use it or its server does not answer. Saves that are not snapshots
// yet stay in the journal. The server or the next command creates snapshots of them.
func (m *Mounts) Detach(ctx context.Context, dir string) error {
	mount, noted := mountAt(dir)
	var hangs error
	if noted && !mount.Dead {
		hangs = mount.Answers(ctx)
	}
	beside, err := m.besideDir(dir)
	if err != nil {
		return err
	}
	if err := mountpoint.Detach(ctx, dir, beside); err != nil {
		return err
	}
	if beside != "" {
		os.Remove(beside) // fails if it does not exist, or has files of others
	}
	switch {
	case !noted:
		return nil
	case hangs != nil || mount.Dead:
		if hangs != nil {
			m.Warn(fmt.Errorf("warning: %s; its saves stay pending until it runs again or ends", mount.NoAnswer()))
		}
		return removeNote(mount.note) // so that another server can mount on the directory
	}
	soon, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	_ = mount.awaitEnd(soon) // the server continues while programs use the mount
	return context.Cause(ctx)
}
