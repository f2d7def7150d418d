package process

import (
	"fmt"
	"io"
	"os"
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
		return 0, fmt.Errorf("confining the command to its directory: %w", err)
	}
	commandW.Close()
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
	c, err := givenCommand()
	if err == nil {
		err = confine(c)
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
	var shm unix.Statfs_t
	if c.Namespace && unix.Statfs(sharedMemory, &shm) == nil && shm.Type == unix.TMPFS_MAGIC && shm.Bfree == shm.Blocks {
		rules = append(rules, landlock.RWDirs(sharedMemory))
	}
	config := landlock.V9
	config.HandledAccessNet = 0
	return config.BestEffort().Restrict(rules...)
}

// CanConfine reports whether the kernel has Landlock (landlock_create_ruleset(2)).
func CanConfine() bool {
	const versionFlag = 1
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, versionFlag)
	return errno == 0 && version > 0
}
