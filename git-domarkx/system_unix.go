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

// mayWrite reports whether this user can create files in a directory.
func mayWrite(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// lockFile takes an exclusive lock on a file until the file is closed. It returns an
// error if another process holds the lock.
func lockFile(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// detach lets a command outlive the terminal from which it was started.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
