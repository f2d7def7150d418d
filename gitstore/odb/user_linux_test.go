package odb_test

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// asOrdinaryUser runs prepare, and then f with the permissions of an ordinary user.
func asOrdinaryUser(t *testing.T, prepare, f func()) {
	t.Helper()
	prepare()
	if os.Geteuid() == 0 {
		runtime.LockOSThread() // never unlocked: the thread ends with the test
		must(t, unix.Setfsuid(65534))
		defer unix.Setfsuid(0)
	}
	f()
}
