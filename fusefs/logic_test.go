//go:build linux

package fusefs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs"
)

func TestErrno(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want syscall.Errno
	}{
		{nil, 0},
		{domarkx.ErrNotFound, syscall.ENOENT},
		{fmt.Errorf("session %q: %w", "s", domarkx.ErrExists), syscall.EEXIST},
		{domarkx.ErrInvalid, syscall.EINVAL},
		{domarkx.ErrReadOnly, syscall.EROFS},
		{domarkx.ErrCorrupt, syscall.EIO},
		{context.Canceled, syscall.EINTR},
		{&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, syscall.ENOSPC},
		{errors.Join(io.ErrUnexpectedEOF, syscall.EDQUOT), syscall.EDQUOT},
		{io.ErrUnexpectedEOF, syscall.EIO},
	} {
		if got := fusefs.Errno(tt.err); got != tt.want {
			t.Errorf("%v is %v, want %v", tt.err, got, tt.want)
		}
	}
}

func TestNamesOfSnapshots(t *testing.T) {
	for _, number := range []int{1, 9999, 10000, 1234567} {
		for _, form := range []fusefs.Form{fusefs.Markdown, fusefs.JSON} {
			name := fusefs.SnapshotName(domarkx.Info{Number: number, ID: "abc"}, form)
			n, id, f, ok := fusefs.ParseSnapshotName(name)
			if n != number || id != "abc" || f != form || !ok {
				t.Errorf("%s is %d, %s, %v, %v", name, n, id, f, ok)
			}
		}
	}
	for _, name := range []string{"", "-", "0001", "0001-", "0001-.md", "1-a.md", "00001-a.md", "-001-a.md", "+001-a.md", "0001-a", "0001-a.txt", "99999999999-a.md"} {
		if _, _, _, ok := fusefs.ParseSnapshotName(name); ok {
			t.Errorf("%q is a snapshot", name)
		}
	}
}

func TestProcesses(t *testing.T) {
	if n := fusefs.StatusNumber([]byte("Name:\tx\nTgid:\t123\nNgid:\t0\n"), "Tgid:"); n != 123 {
		t.Errorf("status: %d", n)
	}
	self := fusefs.CallerOf(uint32(os.Getpid()))
	if self.Process == 0 || self.Group != uint64(unix.Getpgrp()) {
		t.Errorf("this process is %+v", self)
	}
	if thread := fusefs.CallerOf(uint32(unix.Gettid())); thread != self {
		t.Errorf("a thread is %+v, its process %+v", thread, self)
	}
	if nobody := fusefs.CallerOf(0); nobody.Process != 0 || nobody.Group != 0 {
		t.Errorf("process 0 is %+v", nobody)
	}
}

func FuzzStatus(f *testing.F) {
	f.Add([]byte("Name:\tx\nTgid:\t123\nNgid:\t0\n"))
	f.Fuzz(func(t *testing.T, status []byte) { fusefs.StatusNumber(status, "Tgid:") })
}
