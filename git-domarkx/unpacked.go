package main

import (
	"path/filepath"

	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/fusefs/cover"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// coversDir returns where large files of versions are unpacked for the mount, "" when they
// are not to be.
func (inv *invocation) coversDir() (string, error) {
	git, err := inv.git()
	if err != nil {
		return "", err
	}
	config, err := git.Config(inv.ctx)
	if err != nil {
		return "", err
	}
	if unpack, err := config.Bool("domarkx.mount.unpack", true); err != nil || !unpack || !writableRepository(git) {
		return "", err
	}
	return unpackedDir(git), nil
}

func unpackedDir(git *gitcmd.Git) string { return filepath.Join(git.StateDir(), "unpacked") }

// removeUnpacked removes what mounts unpacked that were killed, and reports those that keep
// its room.
func (inv *invocation) removeUnpacked() ([]engine.Finding, error) {
	git, err := inv.git()
	if err != nil {
		return nil, err
	}
	if err := cover.Open(unpackedDir(git)).Close(); err != nil {
		return nil, err
	}
	mounts, err := inv.mounts()
	if err != nil {
		return nil, err
	}
	var found []engine.Finding
	for _, m := range mounts {
		if m.dead && fusefs.Unpacked(m.dir) {
			found = append(found, engine.Finding{
				Severity: severityWarning, Where: m.dir, Fix: "git domarkx unmount " + m.dir,
				What: "the process that served this mount died; what it unpacked takes room on the disk until it is unmounted",
			})
		}
	}
	return found, nil
}
