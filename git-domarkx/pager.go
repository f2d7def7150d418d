package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// A pager is a running program that shows output one screen at a time.
type pager struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// page sends the remaining output through the user's pager, as Git does for its own log
// and diff. It does so only on a terminal, and not if Git has already started a pager.
func (inv *invocation) page() error {
	if !inv.out.tty || inv.getenv("GIT_PAGER_IN_USE") == "true" {
		return nil
	}
	command, err := inv.pagerCommand()
	if err != nil || command == "" || command == "cat" {
		return nil // without a pager, the output goes to the terminal
	}
	cmd := inv.foreground(context.WithoutCancel(inv.ctx), inv.out, "sh", "-c", command)
	cmd.Env = append(os.Environ(), "GIT_PAGER_IN_USE=true")
	for _, preset := range []string{"LESS=FRX", "LV=-c"} {
		if name, _, _ := strings.Cut(preset, "="); inv.getenv(name) == "" {
			cmd.Env = append(cmd.Env, preset)
		}
	}
	in, err := fed(cmd)
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return nil
	}
	inv.out.pager = &pager{cmd: cmd, in: in}
	inv.out.Reset(in)
	return nil
}

// paged prints a result, through the user's pager if it is longer than the screen. It returns when the user has left the pager.
func (inv *invocation) paged(print func() error) error {
	if !inv.out.tty || inv.out.pager != nil {
		return print()
	}
	direct := inv.out.Writer
	var result bytes.Buffer
	inv.out.Writer = bufio.NewWriter(&result)
	err := errors.Join(print(), inv.out.Flush())
	inv.out.Writer = direct
	screen := inv.out.height()
	if err == nil && screen > 0 && bytes.Count(result.Bytes(), []byte("\n")) >= screen {
		if err := inv.page(); err != nil {
			return err
		}
		_, err = result.WriteTo(inv.out)
		if errors.Is(err, syscall.EPIPE) { // the user has left the pager
			err = nil
		}
		return errors.Join(err, inv.out.close())
	}
	_, e := result.WriteTo(inv.out)
	return errors.Join(err, e)
}

// close waits until the pager ends. A pager that the user quits early is not an error.
func (p *pager) close(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		err = nil
	}
	return errors.Join(err, p.in.Close(), p.cmd.Wait())
}

func (inv *invocation) pagerCommand() (string, error) {
	git, err := inv.git()
	if err != nil {
		return "", err
	}
	return git.Pager(inv.ctx)
}
