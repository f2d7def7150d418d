package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"

	"github.com/domarkx/domarkx/git-domarkx/mountd"
)

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
	return mounts.Serve(inv.ctx, dir, open, func() error { return errors.Join(c.printPath(inv, dir), inv.out.Flush()) })
}

type unmountCmd struct {
	pathOption
	Force bool   `help:"Detach the mount even while it is in use or its server does not answer."`
	Dir   string `arg:"" optional:"" name:"DIR" help:"The directory; as for mount when none is given, or that of the only mount."`
}

func (c *unmountCmd) Run(inv *invocation) error {
	mounts, err := inv.mounts()
	if err != nil && c.Dir == "" {
		return err
	}
	dir, err := mounts.Mounted(inv.ctx, c.Dir)
	if is[*mountd.AmbiguousError](err) {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	end := mounts.Unmount
	if c.Force {
		end = mounts.Detach
	}
	err = end(inv.ctx, dir)
	if is[*mountd.RefusedError](err) {
		return inv.bad(err)
	}
	if err != nil {
		return err
	}
	if c.Dir != "" {
		return c.printPath(inv, dir)
	}
	if made, err := mounts.Dir(inv.ctx, ""); err == nil && dir == made {
		os.Remove(dir) // mount creates it again; a directory with other files is not removed
	}
	return c.printPath(inv, dir)
}

// A lack is something without which sessions cannot be mounted.
type lack struct{ what, where, fix string }

func (l lack) Error() string { return fmt.Sprintf("%s; to mend it: %s", l.what, l.fix) }

// missingForMount returns the requirements of a mount that this machine lacks.
func missingForMount() []lack {
	if runtime.GOOS != "linux" {
		return nil
	}
	var missing []lack
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	switch {
	case err == nil:
		device.Close()
	case errors.Is(err, fs.ErrPermission):
		missing = append(missing, lack{"mounting is impossible: you may not open /dev/fuse", "/dev/fuse", "as root: chmod 666 /dev/fuse"})
	default:
		missing = append(missing, lack{"mounting is impossible: " + err.Error(), "/dev/fuse", "as root: modprobe fuse, or give the container --device /dev/fuse"})
	}
	if os.Geteuid() == 0 {
		return missing
	}
	if _, err := exec.LookPath("fusermount3"); err != nil {
		if _, err := exec.LookPath("fusermount"); err != nil {
			missing = append(missing, lack{"mounting is impossible: fusermount3 is not installed", "PATH", "apt-get install fuse3"})
		}
	}
	return missing
}
