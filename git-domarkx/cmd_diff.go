package main

import (
	"bytes"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/find/compare"
)

type diffCmd struct {
	A string `arg:"" name:"A" help:"A session, snapshot or message: the old side; alone, what its newest change was."`
	B string `arg:"" optional:"" name:"B" help:"The new side."`
}

func (c *diffCmd) Run(inv *invocation) error {
	a, err := engine.ParseRevision(c.A)
	if err != nil {
		return err
	}
	if c.B == "" {
		if a.Message >= 0 {
			return usagef("%q is a message; name another to compare it with", c.A)
		}
		c.B = c.A
		a = a.Before()
	}
	b, err := engine.ParseRevision(c.B)
	if err != nil {
		return err
	}
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	if err := inv.complete(&a.Name, &b.Name); err != nil {
		return err
	}
	diff, err := compare.Revisions(inv.ctx, sessions, a, b, a.String(), b.String())
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
		if _, err := inv.out.WriteString(paint(style, body) + text[len(body):]); err != nil {
			return err
		}
	}
	return nil
}
