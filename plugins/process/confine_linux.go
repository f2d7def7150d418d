package process

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// confinedName is the only argument of this program when it is to confine itself and
// execute a command. The supervisor itself is not confined: Landlock forbids signals to
// other domains, and each of its threads would be one.
const confinedName = "git-domarkx-confined"

// errorFD receives the reason if the command cannot be executed; execve(2) closes it.
const errorFD = 4

// forkConfined starts this program to confine itself and execute the command.
func (c command) forkConfined() (int, error) {
	var files pipes
	defer files.close()
	commandR, commandW := files.open()
	errorR, errorW := files.open()
	if files.err != nil {
		return 0, files.err
	}
	pid, err := c.fork("/proc/self/exe", []string{confinedName}, []uintptr{0, 1, 2, commandR.Fd(), errorW.Fd()})
	errorW.Close()
	if err != nil {
		return 0, err
	}
	if err := c.write(commandW); err != nil {
		return 0, fmt.Errorf("confining the command to its directory: %w", err)
	}
	said, err := io.ReadAll(errorR)
	if err == nil && len(said) > 0 {
		err = fmt.Errorf("%s", said)
	}
	return pid, err
}

// confineAndRun executes the command if this process was started by forkConfined.
func confineAndRun() (code int, confined bool) {
	if len(os.Args) != 1 || os.Args[0] != confinedName {
		return 0, false
	}
	unix.CloseOnExec(errorFD)
	fmt.Fprint(os.NewFile(errorFD, "error"), becomeCommand())
	return 1, true
}

// becomeCommand confines this process and executes the command. It returns only on error.
func becomeCommand() error {
	runtime.LockOSThread() // capabilities and filters of system calls belong to the thread
	c, err := givenCommand()
	if err == nil {
		err = confine(c)
	}
	if err == nil {
		err = dropCapabilities()
	}
	if err == nil {
		err = denyKeys()
	}
	if err != nil {
		return fmt.Errorf("confining the command to its directory: %w", err)
	}
	return fmt.Errorf("running %q: %w", c.Program, syscall.Exec(c.Program, c.Args, c.Env))
}

// confine lets this process write only in the command's directories, send signals only to
// its descendants, and connect only to their Unix sockets, to those in the directories and
// to c.Sockets. Kernels whose Landlock is older restrict less: signals and abstract
// sockets need ABI 6, sockets that have a path ABI 9.
func confine(c command) error {
	devices := []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"}
	rules := []landlock.Rule{
		landlock.RODirs("/"),
		landlock.RWDirs(c.Writable...).WithRefer().WithResolveUnix(),
		landlock.ROFiles(c.Sockets...).WithResolveUnix().IgnoreIfMissing(),
		landlock.RWFiles(devices...).WithIoctlDev().IgnoreIfMissing(),
		landlock.RWDirs("/dev/pts").WithIoctlDev().IgnoreIfMissing(),
	}
	if c.OwnMemory {
		rules = append(rules, landlock.RWDirs(sharedMemory))
	}
	config := landlock.V9
	config.HandledAccessNet = 0
	return config.BestEffort().Restrict(rules...)
}

// dropCapabilities takes from this thread what lets root leave its directories: to undo mounts,
// open files by handle, make devices, load kernel modules, or change the network. Landlock has set
// no_new_privs, so no program that the thread executes gains it again (capabilities(7)).
func dropCapabilities() error {
	const kept = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_KILL |
		1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_SETPCAP | 1<<unix.CAP_SETFCAP |
		1<<unix.CAP_NET_BIND_SERVICE | 1<<unix.CAP_NET_RAW | 1<<unix.CAP_SYS_CHROOT | 1<<unix.CAP_AUDIT_WRITE
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held [2]unix.CapUserData
	err := unix.Capget(&header, &held[0])
	if err == nil {
		for i := range held {
			half := uint32(uint64(kept) >> (32 * i))
			held[i].Permitted &= half
			held[i].Effective &= half
			held[i].Inheritable = 0
		}
		err = unix.Capset(&header, &held[0])
	}
	if err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return nil
}

// CanConfine reports whether the kernel has Landlock (landlock_create_ruleset(2)).
func CanConfine() bool {
	const versionFlag = 1
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, versionFlag)
	return errno == 0 && version > 0
}
