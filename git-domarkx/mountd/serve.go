package mountd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/fusefs/mountpoint"
	"github.com/domarkx/domarkx/git-domarkx/background"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// Serve mounts on a directory and serves the mount until a user unmounts it or ctx is cancelled. It gets the sessions from open.
// When programs can use the mount, Serve reports that to the process that called Start, or calls ready if there is none.
func (m *Mounts) Serve(ctx context.Context, dir string, open func() (Sessions, error), ready func() error) error {
	parent := background.Waiting()
	server, note, err := m.startServing(ctx, dir, open, parent != nil)
	if err = errors.Join(err, parent.Report(err)); err != nil {
		return err
	}
	if parent == nil {
		if err := ready(); err != nil {
			return err
		}
	}
	return errors.Join(m.untilUnmounted(ctx, server), note.end())
}

func (m *Mounts) startServing(ctx context.Context, dir string, open func() (Sessions, error), background bool) (*fusefs.Server, *registration, error) {
	sessions, err := open()
	if err != nil {
		return nil, nil, err
	}
	if background {
		if err := os.Chdir("/"); err != nil { // do not use the user's directory
			return nil, nil, err
		}
	}
	serveWhileReading()
	note, err := register(ctx, m.Git, dir)
	if err != nil {
		return nil, nil, err
	}
	beside, err := m.besideDir(dir)
	if err != nil {
		return nil, nil, errors.Join(err, note.end())
	}
	log := slog.New(slog.NewTextHandler(m.Log, nil))
	o := sessions.writable(DraftsDir(m.Git))
	o.WorkspaceSource = fusefs.WorkspaceSource{Workspaces: sessions.Store, Contents: sessions.Store, Beside: beside}
	o.Dir, o.ReadOnly, o.Label, o.Logger = dir, !writableRepository(m.Git), m.Git.CommonDir, log
	server, err := fusefs.Mount(ctx, o)
	if err != nil {
		return nil, nil, errors.Join(err, note.end())
	}
	if note.file != nil {
		note.control = serveControl(ctx, server, controlPath(note.file.Name()), log)
	}
	return server, note, nil
}

// serveWhileReading raises GOMAXPROCS by two, unless the user set it. A thread that waits for a page of a memory-mapped pack
// counts as running; without spare threads, such waits would delay the answers to the kernel.
func serveWhileReading() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2)
	}
}

// untilUnmounted waits until the mount ends. If ctx is cancelled, it unmounts. While
// programs use the mount, it continues to serve and retries.
func (m *Mounts) untilUnmounted(ctx context.Context, server *fusefs.Server) error {
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	warned := ""
	for {
		busy, err := unmountElsewhere(server)
		if err != nil {
			return err
		}
		if busy != "" && busy != warned {
			warned = busy
			m.Warn(fmt.Errorf("%s; the mount ends when it is no longer in use", busy))
		}
		select {
		case err := <-ended:
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(time.Second):
		}
	}
}

// unmountVariable is set in the process that a server starts in order to unmount. That
// process must not wait for the server, which waits for it.
const unmountVariable = "GIT_DOMARKX_UNMOUNT_ONLY"

// unmountElsewhere unmounts in another process. It returns which programs use the mount, or "". Unmounting sends requests to the
// server: a server that unmounts itself and is killed while it waits for its own answer never ends.
func unmountElsewhere(server *fusefs.Server) (busy string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("unmounting %q: finding this program: %w", server.Dir(), err)
	}
	cmd := exec.Command(self, "unmount", "--", server.Dir())
	cmd.Env = append(os.Environ(), unmountVariable+"=1")
	background.Detach(cmd) // protects it from the signal that ends the server
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	exit, ran := errors.AsType[*exec.ExitError](err)
	switch message := strings.TrimPrefix(strings.TrimSpace(said.String()), "git-domarkx: "); {
	case err == nil:
		return "", nil
	case !ran: // the program cannot be started, for example after an update
		err := server.TryUnmount(context.Background())
		if busy, ok := errors.AsType[*mountpoint.BusyError](err); ok {
			return busy.Error(), nil
		}
		return "", err
	case exit.ExitCode() == 1:
		return message, nil
	default:
		return "", fmt.Errorf("%s (%w)", message, err)
	}
}

// writableRepository reports whether this user can change sessions of the repository.
func writableRepository(git *gitcmd.Git) bool {
	return mayWrite(git.CommonDir) && mayWrite(git.ObjectDir)
}
