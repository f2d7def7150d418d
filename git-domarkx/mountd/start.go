package mountd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/domarkx/domarkx/git-domarkx/background"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// DraftsDir returns the directory of the saves that are not snapshots yet.
func DraftsDir(git *gitcmd.Git) string { return filepath.Join(git.StateDir(), "drafts") }

// Start starts this program in a process session of its own (setsid(2)) to serve a mount. It returns when the mount is usable. If
// the process ends before, the error names its log.
func (m *Mounts) Start(ctx context.Context, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("mounting on %q: finding this program: %w", dir, err)
	}
	log, err := openLog(m.Git)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(self, "mount", "--foreground", "--", dir)
	cmd.Stdout, cmd.Stderr = log, log
	err = background.Start(ctx, cmd)
	switch ended, ok := errors.AsType[*background.EndedError](err); {
	case err == nil, ctx.Err() != nil:
		return err
	case ok:
		return fmt.Errorf("mounting on %q: the process that serves it ended (%v); see %s", dir, ended.State, log.Name())
	}
	return fmt.Errorf("%w; for details, run git domarkx doctor or see %s", err, log.Name())
}

// openLog opens the log of servers in the background, or the null device if the repository is read-only.
func openLog(git *gitcmd.Git) (*os.File, error) {
	log, err := background.OpenLog(filepath.Join(git.StateDir(), "mount.log"))
	switch {
	case err == nil:
		return log, nil
	case ignoreReadOnly(err) != nil:
		return nil, fmt.Errorf("opening the log of mounts: %w", err)
	}
	return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
}
