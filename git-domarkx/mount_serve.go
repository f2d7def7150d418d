package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// serve mounts on a folder and serves the mount until it is unmounted, by
// whomever, or this process is asked to end.
func (inv *invocation) serve(dir string) error {
	waiter := inv.waiter()
	server, note, err := inv.startServing(dir, waiter != nil)
	if waiter != nil {
		answer := usable
		if err != nil {
			answer = err.Error()
		}
		_, told := io.WriteString(waiter, answer)
		err = errors.Join(err, told, waiter.Close())
	}
	if err != nil {
		return err
	}
	if waiter == nil {
		if err := printLine(inv, dir); err != nil {
			return err
		}
	}
	return errors.Join(inv.untilUnmounted(server), note.end())
}

func (inv *invocation) startServing(dir string, background bool) (*fusefs.Server, *registration, error) {
	source, err := inv.openStored()
	if err != nil {
		return nil, nil, err
	}
	git := inv.repository
	setGCPercent(inv.getenv, 100) // unlike a command, a server runs for days
	if background {
		if err := os.Chdir("/"); err != nil { // keep no folder of the user's busy
			return nil, nil, err
		}
	}
	serveWhileReading()
	note, err := register(inv.ctx, git, dir)
	if err != nil {
		return nil, nil, err
	}
	beside, err := inv.besideDir(dir)
	if err != nil {
		return nil, nil, errors.Join(err, note.end())
	}
	log := slog.New(slog.NewTextHandler(inv.err, nil))
	o := source.writable(draftsDir(git))
	o.Dir, o.Beside = dir, beside
	o.Workspaces, o.Versions, o.Contents = source.store, source.store, source.store
	o.ReadOnly, o.Label, o.Logger = !writableRepository(git), git.CommonDir, log
	server, err := fusefs.Mount(inv.ctx, o)
	if err != nil {
		return nil, nil, errors.Join(err, note.end())
	}
	if note.file != nil {
		note.control = serveControl(inv.ctx, server, controlPath(note.file.Name()), log)
	}
	return server, note, nil
}

// serveWhileReading lets two threads more run than there are processors for this process, as it
// was counted when it began (by cgroups too), unless the user says how many: one that waits for
// a page of a mapped pack counts as running, and would keep the kernel from being answered.
func serveWhileReading() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2)
	}
}

// untilUnmounted waits for the end of a mount. Asked to end, it unmounts; while
// somebody uses the mount it stays whole, and is tried again.
func (inv *invocation) untilUnmounted(server *fusefs.Server) error {
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-inv.ctx.Done():
	}
	told := ""
	for {
		busy, err := unmountElsewhere(server)
		if err != nil {
			return err
		}
		if busy != "" && busy != told {
			told = busy
			fmt.Fprintf(inv.err, "git-domarkx: %s; the mount ends when it is no longer in use\n", visible(told))
		}
		select {
		case err := <-ended:
			return errors.Join(err, context.Cause(inv.ctx))
		case <-time.After(time.Second):
		}
	}
}

// unmountVariable tells an unmount that the server of the mount waits for it.
const unmountVariable = "GIT_DOMARKX_UNMOUNT_ONLY"

// unmountElsewhere unmounts from another process, or says who uses the mount: to
// unmount asks the server, and one that is killed while it asks itself never ends.
func unmountElsewhere(server *fusefs.Server) (busy string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("unmounting %q: finding this program: %w", server.Dir(), err)
	}
	cmd := exec.Command(self, "unmount", "--", server.Dir())
	cmd.Env = append(os.Environ(), unmountVariable+"=1")
	detach(cmd) // the signal that ends the server is not for it
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	var exit *exec.ExitError
	switch message := strings.TrimPrefix(strings.TrimSpace(said.String()), "git-domarkx: "); {
	case err == nil:
		return "", nil
	case !errors.As(err, &exit): // the program is gone, by an update say
		return unmountHere(server)
	case exit.ExitCode() == exitNo:
		return message, nil
	default:
		return "", fmt.Errorf("%s (%w)", message, err)
	}
}

func unmountHere(server *fusefs.Server) (string, error) {
	err := server.TryUnmount(context.Background())
	var busy *fusefs.BusyError
	if errors.As(err, &busy) {
		return busy.Error(), nil
	}
	return "", err
}

// writableRepository reports whether sessions can be changed.
func writableRepository(git *gitcmd.Git) bool {
	for _, dir := range []string{git.CommonDir, git.ObjectDir} {
		if !mayWrite(dir) {
			return false
		}
	}
	return true
}
