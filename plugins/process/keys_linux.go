package process

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keyCalls are the numbers of add_key(2), request_key(2) and keyctl(2), which follow each other, by
// architecture: a process can make the calls of its kernel's other architecture, too.
var keyCalls = []struct{ arch, first uint32 }{
	{unix.AUDIT_ARCH_X86_64, 248}, {unix.AUDIT_ARCH_I386, 286},
	{unix.AUDIT_ARCH_AARCH64, 217}, {unix.AUDIT_ARCH_ARM, 309},
	{unix.AUDIT_ARCH_RISCV64, 217}, {unix.AUDIT_ARCH_LOONGARCH64, 217},
}

// denyKeys keeps this thread, and what it executes, from the kernel's keyrings: a key in that of the
// user outlives the command, and the user's programs keep secrets there. It does nothing
// on kernels without seccomp(2) filters.
func denyKeys() error {
	const (
		numberAt, archAt = 0, 4 // in struct seccomp_data
		x32              = 0x40000000
		load             = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal            = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		atLeast          = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		and              = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		ret              = unix.BPF_RET | unix.BPF_K
	)
	var program []unix.SockFilter
	for _, c := range keyCalls {
		program = append(program,
			unix.SockFilter{Code: load, K: archAt},
			unix.SockFilter{Code: equal, Jf: 6, K: c.arch}, // else the next architecture
			unix.SockFilter{Code: load, K: numberAt},
			unix.SockFilter{Code: and, K: ^uint32(x32)},
			unix.SockFilter{Code: atLeast, Jf: 2, K: c.first},
			unix.SockFilter{Code: atLeast, Jt: 1, K: c.first + 3},
			unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
			unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
	}
	program = append(program, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forgoing new privileges: %w", err)
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 && !errors.Is(errno, unix.ENOSYS) && !errors.Is(errno, unix.EINVAL) {
		return fmt.Errorf("denying the kernel's keys: %w", errno)
	}
	return nil
}

// canDenyKeys reports whether the kernel has seccomp(2) filters.
func canDenyKeys() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}
