package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Supervise must be called by main before anything else. In a process that was started
// as a supervisor it runs the command and returns the exit code for main and true.
// In any other process it returns false at once.
func Supervise() (code int, supervised bool) {
	if len(os.Args) != 1 || os.Args[0] != supervisorName {
		return confineAndRun()
	}
	s := supervisor{reports: os.NewFile(reportFD, "report")}
	unix.CloseOnExec(reportFD)
	unix.CloseOnExec(lifelineFD)
	var err error
	if s.command, err = givenCommand(); err != nil {
		return 1, true
	}
	if err := closeInherited(); err != nil && s.command.Confined {
		_ = json.NewEncoder(s.reports).Encode(report{Error: err.Error()})
		return 1, true
	}
	// Only the lifeline ends a supervisor. The signals are caught rather than ignored,
	// since the command would inherit ignored signals.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)
	r := s.run()
	if err := json.NewEncoder(s.reports).Encode(r); err != nil {
		return 1, true
	}
	return 0, true
}

// closeInherited keeps the command from the open files that this program inherited, such as those
// of a shell's redirections: confinement does not cover files that are open already.
func closeInherited() error {
	open, err := os.ReadDir("/proc/self/fd") // close_range(2) has CLOSE_RANGE_CLOEXEC only since Linux 5.11
	if err != nil {
		return fmt.Errorf("listing inherited files: %w", err)
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > reportFD {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// A supervisor runs one command.
type supervisor struct {
	command command
	reports *os.File
	mu      sync.Mutex // held while everything is killed
	over    atomic.Pointer[string]
}

func (s *supervisor) run() report {
	c := s.command
	// When memory is short, the kernel should kill the command and not the user's programs (proc(5)).
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if c.Namespace {
		if err := ownProc(); err != nil {
			return report{Unable: err.Error()}
		}
		c.OwnMemory = c.ownSharedMemory()
		s.command.OwnMemory = c.OwnMemory
		if c.Confined {
			if err := ownTerminals(); err != nil {
				return report{Unable: err.Error()}
			}
			if err := c.keepReadOnly(); err != nil {
				return report{Unable: err.Error()}
			}
		}
		for _, path := range c.Sealed {
			if err := c.seal(path); err != nil {
				return report{Unable: fmt.Sprintf("making %q read-only: %v", path, err)}
			}
		}
		if c.Confined {
			if err := c.hideSockets(); err != nil {
				return report{Error: err.Error()}
			}
			for _, dir := range c.Hidden {
				if err := c.hide(dir); err != nil {
					return report{Error: fmt.Sprintf("hiding the directory %q from the command: %v", dir, err)}
				}
			}
		}
		// Drop CAP_SYS_ADMIN: with it, the command could undo the mounts. The same thread must fork
		// the command, which inherits the thread's capabilities.
		runtime.LockOSThread()
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
			return report{Unable: fmt.Sprintf("dropping capabilities: %v", err)}
		}
	} else if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return report{Error: fmt.Sprintf("becoming the reaper of a command's processes: %v", err)}
	}
	go s.watch()
	go s.limit()
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return report{Error: fmt.Sprintf("opening /dev/null: %v", err)}
	}
	var pid int
	if c.Confined {
		pid, err = c.forkConfined()
	} else {
		pid, err = c.fork(c.Program, c.Args, []uintptr{0, 1, 2})
	}
	if err != nil {
		return report{Error: err.Error()}
	}
	for fd := range 3 { // the supervisor closes its copies, so that readers reach the end of file when the command ends
		_ = unix.Dup3(null, fd, unix.O_CLOEXEC)
	}
	if err := json.NewEncoder(s.reports).Encode(report{Started: true}); err != nil {
		s.killAll()
		return report{Error: err.Error()}
	}
	exit := s.reap(pid)
	s.mu.Lock() // from here on watch does nothing
	s.killAll()
	r := report{Exit: exit}
	if over := s.over.Load(); over != nil {
		r.Over = *over
	}
	return r
}

// fork starts a program in a session of its own.
func (c command) fork(program string, args []string, files []uintptr) (int, error) {
	pid, err := syscall.ForkExec(program, args, &syscall.ProcAttr{
		Dir: c.Dir, Env: c.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("running %q: %w", c.Program, err)
	}
	c.limitForks(pid)
	return pid, nil
}

// watch kills everything when the program that started the supervisor dies.
func (s *supervisor) watch() {
	var b [1]byte
	for {
		n, err := unix.Read(lifelineFD, b[:])
		if errors.Is(err, unix.EINTR) || n > 0 {
			continue
		}
		break
	}
	s.mu.Lock()
	s.killAll()
	os.Exit(1)
}

// reap waits for a process and returns its exit code. It also reaps all processes that
// end earlier.
func (s *supervisor) reap(pid int) int {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return -1
		case got == pid && status.Signaled():
			return 128 + int(status.Signal())
		case got == pid && status.Exited():
			return status.ExitStatus()
		}
	}
}

func (s *supervisor) killAll() {
	if s.command.Namespace {
		_ = unix.Kill(-1, unix.SIGKILL) // everything in the namespace except its first process
		for {
			if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}
	for {
		// The next round finds processes that were forked meanwhile: they are descendants, too.
		killBelow()
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
			if pid == 0 {
				break
			}
		}
		// Waiting for one to end could take for ever: the round misses a process whose parent ends while
		// it looks.
		time.Sleep(time.Millisecond)
	}
}

// ownProc mounts the /proc of the PID namespace.
func ownProc() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	return nil
}

const sharedMemory = "/dev/shm"

// ownSharedMemory mounts an empty /dev/shm and reports whether it did. It does not if that would hide
// directories of the command. Without it, confined commands have no shared memory.
func (c command) ownSharedMemory() bool {
	needed, shared := resolve(append([]string{c.Dir, c.Program}, c.Writable...)), resolve([]string{sharedMemory})
	if slices.ContainsFunc(needed, func(path string) bool { return liesIn(path, shared) }) {
		return false
	}
	options := "mode=1777"
	if c.Memory > 0 {
		options += fmt.Sprintf(",size=%d", c.Memory)
	}
	return unix.Mount("tmpfs", sharedMemory, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options) == nil
}

// ownTerminals gives this mount namespace pseudo-terminals of its own. A command that could
// open the user's terminal could write there, and as root type there.
func ownTerminals() error {
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); errors.Is(err, unix.ENOENT) {
		return nil // as in small containers, which have no terminals to hide
	} else if err != nil {
		return fmt.Errorf("mounting /dev/pts: %w", err)
	}
	if err := unix.Mount("/dev/pts/ptmx", "/dev/ptmx", "", unix.MS_BIND, ""); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("mounting /dev/ptmx: %w", err)
	}
	return nil
}

// keepReadOnly makes all mounts of this namespace read-only except the command's directories and
// its own shared memory. A directory that the user cannot write, because its mount is read-only, stays
// so. Landlock forbids writing other files, but not changing their modes, owners, times and attributes.
func (c command) keepReadOnly() error {
	var writable []string
	for _, path := range c.Writable {
		var fs unix.Statfs_t
		if err := unix.Statfs(path, &fs); err != nil {
			return fmt.Errorf("reading the mount flags of %q: %w", path, err)
		}
		if fs.Flags&unix.ST_RDONLY == 0 {
			writable = append(writable, path)
		}
		if err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mounting %q: %w", path, err)
		}
	}
	readOnly := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, readOnly); err != nil {
		return fmt.Errorf("making file systems read-only: %w", err)
	}
	again := &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	for _, path := range writable {
		if err := unix.MountSetattr(unix.AT_FDCWD, path, 0, again); err != nil {
			return fmt.Errorf("making %q writable: %w", path, err)
		}
	}
	if c.OwnMemory {
		_ = unix.MountSetattr(unix.AT_FDCWD, sharedMemory, 0, again)
	}
	return nil
}

// seal makes a file or directory read-only in this namespace, and keeps the command from renaming it,
// the directories of the command that contain it, and the symbolic link that path may be. It does nothing
// if the path does not exist or is a mount whose server died.
func (c command) seal(path string) error {
	var fs unix.Statfs_t
	err := unix.Statfs(path, &fs)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTCONN) {
		return nil
	}
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	named := filepath.Join(resolve([]string{filepath.Dir(path)})[0], filepath.Base(path))
	writable := resolve(c.Writable)
	for _, at := range slices.Compact([]string{named, real}) {
		for dir := filepath.Dir(at); !slices.Contains(writable, dir) && liesIn(dir, writable); dir = filepath.Dir(dir) {
			if err := pin(dir); err != nil {
				return err
			}
		}
		if err := pin(at); err != nil {
			return err
		}
	}
	// A user namespace cannot clear these flags of a mount.
	const locked = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME
	flags := uintptr(fs.Flags) & locked
	if fs.Flags&unix.ST_RELATIME != 0 {
		flags |= unix.MS_RELATIME
	}
	return unix.Mount("", real, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|flags, "")
}

// pin mounts a file, directory or symbolic link on itself, so that it cannot be renamed or removed.
func pin(path string) error {
	tree, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	return unix.MoveMount(tree, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}
