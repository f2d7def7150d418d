//go:build unix

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownedByUs reports whether the file belongs to this user.
func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// mayWrite reports whether this user can make files in a folder.
func mayWrite(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// lockFile takes the lock of a file for as long as it is open; somebody else
// having it is an error.
func lockFile(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// detach makes a command outlive the terminal that it was started from.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
