package agent

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// run runs a command until it ends.
func (s *server) run(ctx context.Context, payload []byte) (status exitStatus, err error) {
	var c Command
	if err := json.Unmarshal(payload, &c); err != nil {
		return status, err
	}
	if len(c.Args) == 0 {
		return status, errors.New("run: no command")
	}
	before := readEvents()
	read, exit, err := s.begin(c)
	if errors.Is(err, ErrNoProgram) {
		return exitStatus{NoProgram: true}, nil
	}
	if err != nil {
		s.reached(before) // so that other commands can start
		return status, err
	}
	if c.Detached {
		s.processes.mu.Lock()
		s.processes.detached = append(s.processes.detached, func() error {
			read, _, err := s.begin(c)
			if err == nil {
				go discard(read)
			}
			return err
		})
		s.processes.mu.Unlock()
		go discard(read)
		return status, nil
	}

	// When the program has ended, all its output is in the pipe. Processes that it left behind
	// may keep the pipe open for ever.
	output := make(chan error, 1)
	go func() {
		_, err := io.Copy(s.out, read)
		output <- err
	}()
	for {
		select {
		case ended := <-exit:
			if err := read.SetReadDeadline(past); err != nil {
				return status, err
			}
			err := <-output
			if errors.Is(err, os.ErrDeadlineExceeded) {
				err = s.rest(read)
			}
			go discard(read)
			return exitStatus{Code: exitCode(ended), Reached: s.reached(before)}, err
		case f := <-s.frames:
			if f.kind != kindKill {
				return status, fmt.Errorf("%w: unexpected frame %q", errProtocol, f.kind)
			}
			s.processes.killAll()
		case <-ctx.Done():
			return status, ctx.Err()
		}
	}
}

// rest sends the output that is in the pipe at the moment, and not what processes that the command left behind write later.
func (s *server) rest(read *os.File) error {
	raw, err := read.SyscallConn()
	if err != nil {
		return err
	}
	var n int
	var failed error
	err = raw.Control(func(fd uintptr) { n, failed = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	if err := errors.Join(err, failed, read.SetReadDeadline(never)); err != nil {
		return err
	}
	_, err = io.CopyN(s.out, read, int64(n))
	return err
}

func discard(read *os.File) {
	if err := read.SetReadDeadline(never); err == nil {
		_, _ = io.Copy(io.Discard, read) // until the last writer closes the pipe
	}
	read.Close()
}

func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// begin starts a command. It returns the read end of its output and its exit status.
func (s *server) begin(c Command) (*os.File, <-chan syscall.WaitStatus, error) {
	who, err := lookupUser(c.User)
	if err != nil {
		return nil, nil, err
	}
	env := c.Env
	if _, ok := lookup(env, "HOME"); !ok {
		env = append(env[:len(env):len(env)], "HOME="+who.home)
	}
	program, err := lookPath(c.Args[0], env)
	if err != nil {
		return nil, nil, err
	}
	dir := c.Dir
	if dir == "" {
		dir = "/"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, fmt.Errorf("create the working directory: %w", err)
	}
	// The command has neither terminal nor input: a command that reads its input gets the end of file.
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer write.Close()
	// Programs expect a blocking pipe.
	if err := unix.SetNonblock(int(write.Fd()), false); err != nil {
		read.Close()
		return nil, nil, err
	}
	attr := &syscall.ProcAttr{
		Dir: dir, Env: env, Files: []uintptr{null.Fd(), write.Fd(), write.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true, Credential: who.credential},
	}
	exit, err := s.processes.start(program, c.Args, attr)
	if err != nil {
		read.Close()
		return nil, nil, err
	}
	return read, exit, nil
}

// Read deadlines: with past, reads return at once; with never (the zero time), reads may wait forever.
var (
	past  = time.Unix(1, 0)
	never time.Time
)

func lookup(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// lookPath finds a program in PATH as execvp(3) does.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if _, err := os.Stat(name); err != nil {
			return "", fmt.Errorf("%w: %q", ErrNoProgram, name)
		}
		return name, nil
	}
	path, ok := lookup(env, "PATH")
	if !ok {
		path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join("/", dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%w: %q", ErrNoProgram, name)
}

type identity struct {
	credential *syscall.Credential
	home       string
}

// lookupUser resolves "USER[:GROUP]" with the container's own /etc/passwd and /etc/group, as
// docker run --user does: names or numbers; "" is root. A number need not be listed there.
func lookupUser(spec string) (identity, error) {
	name, group, hasGroup := strings.Cut(spec, ":")
	if name == "" {
		name = "0"
	}
	who := identity{home: "/", credential: &syscall.Credential{}}
	users, err := table("/etc/passwd", 7) // name:password:UID:GID:comment:home:shell
	if err != nil {
		return identity{}, err
	}
	known := false
	for _, f := range users {
		uid, err1 := strconv.ParseUint(f[2], 10, 32)
		gid, err2 := strconv.ParseUint(f[3], 10, 32)
		if f[0] != name && f[2] != name || err1 != nil || err2 != nil {
			continue
		}
		who.credential.Uid, who.credential.Gid = uint32(uid), uint32(gid)
		name, known, who.home = f[0], true, cmp.Or(f[5], who.home)
		break
	}
	number, notNumber := strconv.ParseUint(name, 10, 31)
	switch {
	case known:
	case notNumber != nil:
		return identity{}, fmt.Errorf("the container has no user %q in /etc/passwd", name)
	default:
		who.credential.Uid = uint32(number)
		if number == 0 {
			who.home = "/root"
		}
	}
	gid, notNumber := strconv.ParseUint(group, 10, 31)
	found := !hasGroup || notNumber == nil
	if hasGroup && notNumber == nil {
		who.credential.Gid = uint32(gid)
	}
	groups, err := table("/etc/group", 4) // name:password:GID:members
	if err != nil {
		return identity{}, err
	}
	for _, f := range groups {
		id, err := strconv.ParseUint(f[2], 10, 32)
		switch {
		case err != nil:
		case hasGroup && f[0] == group:
			who.credential.Gid, found = uint32(id), true
		case !hasGroup && known && slices.Contains(strings.Split(f[3], ","), name):
			who.credential.Groups = append(who.credential.Groups, uint32(id))
		}
	}
	if !found {
		return identity{}, fmt.Errorf("the container has no group %q in /etc/group", group)
	}
	return who, nil
}

// table returns the lines of a file that have at least some number of fields. A missing file has none.
func table(path string, fields int) (lines [][]string, err error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	scanner := bufio.NewScanner(io.LimitReader(f, 16<<20))
	for scanner.Scan() {
		if line := strings.Split(scanner.Text(), ":"); len(line) >= fields {
			lines = append(lines, line)
		}
	}
	return lines, scanner.Err()
}
