package main

import (
	"bytes"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/find/compare"
)

type diffCmd struct {
	A revisionArg `arg:"" name:"A" of:"session" help:"A session, snapshot or message: the old side; alone, what its newest change was."`
	B revisionArg `arg:"" optional:"" name:"B" of:"session" help:"The new side."`
}

func (c *diffCmd) prepare(*invocation) error {
	if c.B.typed != "" {
		return nil
	}
	if c.A.Message >= 0 {
		return usagef("%q is a message; name another to compare it with", c.A.typed)
	}
	c.A.Revision, c.B = c.A.Before(), c.A
	return nil
}

func (c *diffCmd) Run(inv *invocation, opened managers) error {
	diff, err := compare.Revisions(inv.ctx, opened.sessions, c.A.Revision, c.B.Revision, c.A.String(), c.B.String())
	if err != nil {
		return err
	}
	if len(diff) == 0 {
		return nil
	}
	if err := inv.page(); err != nil {
		return err
	}
	if err := writeDiff(inv, diff); err != nil {
		return err
	}
	return errNo
}

// writeDiff prints a unified diff. With colours, it colours each line as Git does.
func writeDiff(inv *invocation, diff []byte) error {
	paint := inv.color()
	for line := range bytes.Lines(diff) {
		text := string(line)
		if inv.out.tty {
			text = visible(text)
		}
		style := plain
		switch {
		case strings.HasPrefix(text, "diff ") || strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "+++ "):
			style = bold
		case strings.HasPrefix(text, "@@"):
			style = cyan
		case strings.HasPrefix(text, "-"):
			style = red
		case strings.HasPrefix(text, "+"):
			style = green
		}
		body := strings.TrimSuffix(text, "\n")
		inv.out.WriteString(paint(style, body) + text[len(body):])
	}
	return inv.out.failed()
}
