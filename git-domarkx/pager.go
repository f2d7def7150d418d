package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"

	"github.com/rivo/uniseg"
)

// A pager is the user's program that shows output one screen at a time. It starts when the output is longer than the screen,
// so that a short result needs no key to leave it.
type pager struct {
	inv  *invocation
	held []byte // the output so far, until the pager starts
	cmd  *exec.Cmd
	in   io.WriteCloser // of cmd; nil until it starts, the terminal if there is no pager
}

// page sends the remaining output through the user's pager if it is longer than the screen. It does so only on a terminal,
// and not if Git has already started a pager.
func (inv *invocation) page() error {
	if !inv.out.tty || inv.out.pager != nil || inv.getenv("GIT_PAGER_IN_USE") == "true" {
		return nil
	}
	err := inv.out.Flush()
	inv.out.pager = &pager{inv: inv}
	inv.out.Reset(inv.out.pager)
	return err
}

// paged prints a result, through the user's pager if it is longer than the screen. It returns when the user has left the pager.
func (inv *invocation) paged(print func() error) error {
	if !inv.out.tty || inv.out.pager != nil {
		return print()
	}
	if err := inv.page(); err != nil {
		return err
	}
	err := print()
	if errors.Is(err, syscall.EPIPE) { // the user has left the pager
		err = nil
	}
	return errors.Join(err, inv.out.close())
}

func (p *pager) Write(b []byte) (int, error) {
	if p.in != nil {
		return p.in.Write(b)
	}
	p.held = append(p.held, b...)
	if p.fits() {
		return len(b), nil
	}
	if err := p.start(); err != nil {
		return 0, err
	}
	if _, err := p.in.Write(p.held); err != nil {
		return 0, err
	}
	p.held = nil
	return len(b), nil
}

// fits reports whether the output and a prompt below it fit the screen. A line that the terminal wraps takes several rows. A screen
// whose size is not known has 24 rows, as pagers assume.
func (p *pager) fits() bool {
	rows, height, width := 1, cmp.Or(p.inv.out.height(), 24), p.inv.out.width()
	colors := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for line := range bytes.Lines(colors.ReplaceAll(p.held, nil)) {
		if rows += 1 + max(0, uniseg.StringWidth(string(bytes.TrimSuffix(line, []byte("\n"))))-1)/width; rows > height {
			return false
		}
	}
	return true
}

func (p *pager) start() error {
	inv := p.inv
	git, err := inv.git()
	if err != nil {
		return err
	}
	command, err := git.Pager(inv.ctx)
	if err != nil {
		return err
	}
	p.in = exact{inv.out.to}
	if command == "" || command == "cat" {
		return nil
	}
	cmd := inv.foreground(context.WithoutCancel(inv.ctx), inv.out.to, "sh", "-c", command)
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
		return nil // the output goes to the terminal
	}
	p.cmd, p.in = cmd, in
	return nil
}

// close waits until the pager ends. A pager that the user quits early is not an error.
func (p *pager) close(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		err = nil
	}
	if p.cmd == nil {
		_, e := p.inv.out.to.Write(p.held)
		return errors.Join(err, e)
	}
	return errors.Join(err, p.in.Close(), p.cmd.Wait())
}
