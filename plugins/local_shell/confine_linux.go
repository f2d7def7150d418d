package localshell

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// confinedName is what this program is called when it is to confine itself and
// become a command. The supervisor is not confined: Landlock lets nobody send
// signals to another domain, and each of its threads would have one.
const confinedName = "git-domarkx-confined"

// errorFD takes why a program did not become the command; it ends when it did.
const errorFD = 4

// forkConfined starts this program to become the command.
func (c command) forkConfined(input uintptr) (int, error) {
	spec, err := c.encode()
	if err != nil {
		return 0, err
	}
	commandR, commandW, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer commandR.Close()
	defer commandW.Close()
	errorR, errorW, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer errorR.Close()
	pid, err := c.fork("/proc/self/exe", []string{confinedName}, []uintptr{input, 1, 2, commandR.Fd(), errorW.Fd()})
	errorW.Close()
	if err != nil {
		return 0, err
	}
	if _, err := commandW.Write(spec); err != nil {
		return 0, fmt.Errorf("confining the command to its folder: %w", err)
	}
	commandW.Close()
	said, err := io.ReadAll(errorR)
	if err == nil && len(said) > 0 {
		err = fmt.Errorf("%s", said)
	}
	return pid, err
}

// confineAndRun becomes the command, when this program was started for that.
func confineAndRun() (code int, confined bool) {
	if len(os.Args) != 1 || os.Args[0] != confinedName {
		return 0, false
	}
	unix.CloseOnExec(errorFD)
	fmt.Fprint(os.NewFile(errorFD, "error"), becomeCommand())
	return 1, true
}

// becomeCommand returns only when it cannot be.
func becomeCommand() error {
	c, err := givenCommand()
	if err == nil {
		err = confine(c)
	}
	if err != nil {
		return fmt.Errorf("confining the command to its folder: %w", err)
	}
	return fmt.Errorf("running %q: %w", c.Program, syscall.Exec(c.Program, c.Args, c.Env))
}

// confine lets this process write only in the command's folders, send signals only to
// processes below it, and connect only to their Unix sockets, to those in the folders and
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
	var shm unix.Statfs_t
	if c.Namespace && unix.Statfs(sharedMemory, &shm) == nil && shm.Type == unix.TMPFS_MAGIC && shm.Bfree == shm.Blocks {
		rules = append(rules, landlock.RWDirs(sharedMemory))
	}
	config := landlock.V9
	config.HandledAccessNet = 0
	return config.BestEffort().Restrict(rules...)
}

// canConfine reports whether the kernel has Landlock (landlock_create_ruleset(2)).
func canConfine() bool {
	const versionFlag = 1
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, versionFlag)
	return errno == 0 && version > 0
}
