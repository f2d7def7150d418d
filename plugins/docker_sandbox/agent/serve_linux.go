package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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
		in := &frameReader{r: bufio.NewReaderSize(r, 1<<16)}
		for {
			kind, payload, err := in.next()
			if err != nil {
				cancel(err)
				return
			}
			select {
			case s.frames <- frame{kind, payload}:
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

type frame struct {
	kind    byte
	payload []byte
}

type server struct {
	frames    chan frame
	out       *frameWriter
	processes *processes
	root      string
	keep      map[string]bool
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
		switch f.kind {
		case kindHello:
			err = s.out.answer(s.hello(f.payload))
		case kindRun:
			err = s.run(ctx, f.payload)
		case kindKill:
			s.processes.killAll()
		case kindFreeze:
			err = s.out.answer(s.freeze())
		case kindThaw:
			_, err = s.processes.signalAll(unix.SIGCONT)
			err = s.out.answer(err)
		case kindScan:
			err = s.out.answer(s.scan())
		case kindHash:
			err = s.hash(ctx)
		case kindRead:
			err = s.read(ctx)
		case kindApply:
			err = s.apply(ctx)
		default:
			err = fmt.Errorf("%w: unknown request %q", errProtocol, f.kind)
		}
		if err != nil {
			return err
		}
	}
}

// answer completes the answer to a request, with kindError if err is not nil.
func (f *frameWriter) answer(err error) error {
	if err != nil {
		message := err.Error()
		return f.write(kindError, []byte(message[:min(len(message), maxFrame)]))
	}
	return f.write(kindEnd, nil)
}

func (s *server) hello(payload []byte) error {
	var h hello
	if err := json.Unmarshal(payload, &h); err != nil {
		return err
	}
	s.keep = map[string]bool{}
	for _, path := range h.Keep {
		s.keep[path] = true
	}
	return nil
}

func (s *server) freeze() error {
	busy, err := s.processes.signalAll(unix.SIGSTOP)
	if err != nil {
		return err
	}
	if err := s.sync(); err != nil {
		return err
	}
	return s.out.writeJSON(kindData, Frozen{Busy: busy, Now: time.Now().UnixNano()})
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
	return &dataReader{next: func() (byte, []byte, error) {
		f, err := s.next(ctx)
		return f.kind, f.payload, err
	}}
}

// paths reads the paths of a request until kindEnd.
func (s *server) paths(ctx context.Context) ([]string, error) {
	r := bufio.NewReader(s.stream(ctx))
	var paths []string
	for {
		path, err := readString(r, maxPath)
		if errors.Is(err, io.EOF) {
			return paths, nil
		}
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
}
