package main

import (
	"os"

	"github.com/domarkx/domarkx/git-domarkx/mountd"
)

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
