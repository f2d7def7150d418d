//go:build darwin || freebsd

package sqlite

import "syscall"

func changeTime(s *syscall.Stat_t) int64 { return s.Ctimespec.Nano() }
