package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// run runs a command until it ends. An error ends the agent.
func (s *server) run(ctx context.Context, payload []byte) error {
	var c Command
	if err := json.Unmarshal(payload, &c); err != nil {
		return err
	}
	if len(c.Args) == 0 {
		return s.out.writeJSON(kindExit, exitStatus{Failed: "run: no command"})
	}
	before := readEvents()
	read, exit, err := s.begin(c)
	if errors.Is(err, ErrNoProgram) {
		return s.out.writeJSON(kindExit, exitStatus{NoProgram: true})
	}
	if err != nil {
		return s.out.writeJSON(kindExit, exitStatus{Failed: err.Error(), Reached: s.reached(before)})
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
		return s.out.writeJSON(kindExit, exitStatus{})
	}

	// When the program has ended, all its output is in the pipe. Processes that it left behind
	// may keep the pipe open for ever.
	output := make(chan error, 1)
	go func() {
		_, err := io.CopyBuffer(dataWriter{s.out}, onlyReader{read}, make([]byte, 1<<16))
		output <- err
	}()
	for {
		select {
		case status := <-exit:
			if err := read.SetReadDeadline(past); err != nil {
				return err
			}
			if err := <-output; err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				return err
			} else if err != nil {
				if err := s.rest(read); err != nil {
					return err
				}
			}
			go discard(read)
			return s.out.writeJSON(kindExit, exitStatus{Code: exitCode(status), Reached: s.reached(before)})
		case f := <-s.frames:
			if f.kind != kindKill {
				return fmt.Errorf("%w: unexpected frame %q", errProtocol, f.kind)
			}
			s.processes.killAll()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// rest sends the output that is in the pipe at the moment, without waiting for more.
func (s *server) rest(read *os.File) error {
	raw, err := read.SyscallConn()
	if err != nil {
		return err
	}
	buffer := make([]byte, 1<<16)
	var failed error
	err = raw.Control(func(fd uintptr) {
		// A pipe holds at most 1 MiB (pipe(7)). Stop after that, because processes that the
		// command left behind may keep writing.
		for total := 0; total < 1<<20; {
			n, err := unix.Read(int(fd), buffer)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil || n <= 0 {
				return
			}
			total += n
			if _, failed = (dataWriter{s.out}).Write(buffer[:n]); failed != nil {
				return
			}
		}
	})
	return errors.Join(err, failed)
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

// Read deadlines: with past, reads return at once; with never (the zero time), reads may wait
// forever.
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
