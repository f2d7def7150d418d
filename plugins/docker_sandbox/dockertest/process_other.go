//go:build !linux

package dockertest

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
