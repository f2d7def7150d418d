package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Serve runs as process 1 of a container: it answers on w the requests that it reads from r, and returns when r ends. When
// the program then exits, the kernel kills all other processes of the container.
func Serve(r io.Reader, w io.Writer) error {
	// Keep processes in the container from tracing this one or writing to its pipes through /proc/1/fd.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("protect process 1 from other processes: %w", err)
	}
	holdThreads()
	processes, stop := newProcesses()
	defer stop()
	s := &server{
		frames:    make(chan frame, 16), // at most 4 MB
		out:       &frameWriter{w: w},
		processes: processes,
		root:      "/",
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		in := bufio.NewReaderSize(r, 1<<16)
		for {
			f, err := readFrame(in)
			if err != nil {
				cancel(err)
				return
			}
			select {
			case s.frames <- f:
			case <-ctx.Done():
				return
			}
		}
	}()
	// The end of the input ends the program at once, even during a request.
	go func() { cancel(s.loop(ctx)) }()
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

type server struct {
	frames    chan frame
	out       *frameWriter
	processes *processes
	root      string
	keep      []string // mount points whose files belong to the container
}

func (s *server) next(ctx context.Context) (frame, error) {
	select {
	case f := <-s.frames:
		return f, nil
	case <-ctx.Done():
		return frame{}, ctx.Err()
	}
}

// loop answers requests until ctx ends. An error ends the agent.
func (s *server) loop(ctx context.Context) error {
	for {
		f, err := s.next(ctx)
		if err != nil {
			return err
		}
		var result any
		switch f.kind {
		case kindHello:
			err = json.Unmarshal(f.payload, &s.keep)
		case kindRun:
			result, err = s.run(ctx, f.payload)
		case kindKill: // of a command that just ended
			s.processes.killAll()
			continue
		case kindFreeze:
			result, err = s.freeze()
		case kindThaw:
			_, err = s.processes.signalAll(unix.SIGCONT)
		case kindScan:
			err = s.scan()
		case kindHash:
			err = s.hash(ctx)
		case kindRead:
			err = s.read(ctx)
		case kindApply:
			err = s.apply(ctx)
		default:
			err = fmt.Errorf("%w: unknown request %q", errProtocol, f.kind)
		}
		if errors.Is(err, errProtocol) {
			return err
		}
		if err := s.out.answer(result, err); err != nil {
			return err
		}
	}
}

// answer completes the answer to a request, with kindError if err is not nil.
func (f *frameWriter) answer(result any, err error) error {
	if err != nil {
		message := err.Error()
		return f.write(kindError, []byte(message[:min(len(message), maxFrame)]))
	}
	return f.writeJSON(kindEnd, result)
}

func (s *server) freeze() (f Frozen, err error) {
	if f.Busy, err = s.processes.signalAll(unix.SIGSTOP); err == nil {
		err = s.sync()
	}
	f.Now = time.Now().UnixNano()
	return f, err
}

// sync makes the container's files durable: they survive a power cut as they are listed. The engine does not do that.
func (s *server) sync() error {
	fd, err := open(unix.AT_FDCWD, s.root, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return &os.PathError{Op: "open", Path: s.root, Err: err}
	}
	defer unix.Close(fd)
	return os.NewSyscallError("syncfs", unix.Syncfs(fd))
}

// stream returns a reader of the kindData frames of a request.
func (s *server) stream(ctx context.Context) *dataReader {
	return &dataReader{next: func() (frame, error) { return s.next(ctx) }}
}

// paths reads the paths of a request. A NUL ends each path.
func (s *server) paths(ctx context.Context) ([]string, error) {
	data, err := io.ReadAll(s.stream(ctx))
	paths := strings.Split(string(data), "\x00")
	return paths[:len(paths)-1], err
}
