package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/web"
)

type webCmd struct {
	Port int  `placeholder:"N" help:"Serve at this port; otherwise at a free one."`
	Open bool `help:"Open the address in your browser, $BROWSER if that is set."`
}

func (c *webCmd) prepare(*invocation) error {
	if c.Port < 0 || c.Port > 65535 {
		return usagef("--port is %d, expected 1 to 65535", c.Port)
	}
	return nil
}

func (c *webCmd) Run(inv *invocation, opened managers) error {
	inv.boundMemory(opened)
	var config net.ListenConfig
	listener, err := config.Listen(inv.ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)))
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("%w; name another with --port, or leave that out for a free one", err)
		}
		return fmt.Errorf("listening: %w", err)
	}
	pages := &web.Server{Sessions: opened.sessions, Store: opened.store, Cost: inv.costs(), Reviews: opened.reviews()}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	address := pages.Listen(port)
	server := &http.Server{Handler: pages, DisableGeneralOptionsHandler: true, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, BaseContext: func(net.Listener) context.Context { return inv.ctx }}
	if err := inv.printLine(text(address)); err != nil {
		return errors.Join(err, listener.Close())
	}
	if c.Open {
		remove, err := inv.openInBrowser(address)
		defer remove()
		if err != nil {
			inv.warn(fmt.Errorf("opening the browser: %w; open the address above", err))
		}
	}
	defer context.AfterFunc(inv.ctx, func() { server.Close() })() // the user ends a web server by interrupting it
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// openInBrowser opens an address in the user's browser. The caller must call remove in the end. Other users could read the
// address in the argument list of a process. So the browser gets the path of a file that only this user can read and that
// redirects to the address. $BROWSER is a list of commands separated by colons. The first one that can be started is used, with
// the path in the place of %s or as the last argument. It may be a browser for terminals.
func (inv *invocation) openInBrowser(address string) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "git-domarkx-")
	if err != nil {
		return func() {}, err
	}
	remove = func() { os.RemoveAll(dir) }
	path := filepath.Join(dir, "open.html")
	page := `<!DOCTYPE html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=` + address + `"><title>git domarkx</title>`
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		return remove, err
	}
	for command := range strings.SplitSeq(inv.getenv("BROWSER"), ":") {
		if args := strings.Fields(command); len(args) > 0 {
			if !strings.Contains(command, "%s") {
				args = append(args, path)
			}
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "%s", path)
			}
			if inv.startBrowser(args) == nil {
				return remove, nil
			}
		}
	}
	opener := []string{"xdg-open", path}
	switch runtime.GOOS {
	case "darwin":
		opener = []string{"open", path}
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler", path}
	}
	return remove, inv.startBrowser(opener)
}

// startBrowser starts a browser, which may run until the user has finished reading.
func (inv *invocation) startBrowser(command []string) error {
	cmd := inv.foreground(inv.ctx, inv.screen(), command[0], command[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
