package main

import (
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/refname"
)

type restoreCmd struct {
	sessionsOption
	Redacted bool     `name:"redacted" help:"Bring back what a redaction replaced last; the redacted session goes to the trash."`
	Names    []string `arg:"" name:"NAME" help:"The sessions, by the names that they had."`
}

func (c *restoreCmd) Run(inv *invocation, opened managers) error {
	return c.printEach(inv, c.Names, func(name string) (domarkx.Info, error) {
		if c.Redacted {
			info, err := opened.redactions.Undo(inv.ctx, name)
			if errors.Is(err, domarkx.ErrNotFound) {
				if gone, e := opened.sessions.ExpiredLinks(inv.ctx, tipOf(name)); e == nil && len(gone) > 0 {
					err = fmt.Errorf("%w; files of its versions expired, and nothing brings these back", err)
				}
			}
			return info, err
		}
		info, err := opened.turns.Restore(inv.ctx, name)
		if (errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrExists)) && opened.store.IsReplaced(name) {
			err = fmt.Errorf("session %q is not in the trash, but a redaction replaced it: to bring back what was there before: git domarkx restore --redacted %s", name, refname.Argument(name))
		}
		return info, err
	})
}
