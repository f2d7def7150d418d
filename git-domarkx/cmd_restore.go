package main

import "github.com/domarkx/domarkx"

type restoreCmd struct {
	sessionsOption
	Names []string `arg:"" name:"NAME" help:"The sessions, by the names that they had."`
}

func (restoreCmd) Help() string {
	return `
Brings back the session of that name that was removed last, with its workspace; or the
workspace alone, when only that was removed.

## Output

    NAME  OID
`
}

// Run restores the session.
func (c *restoreCmd) Run(inv *invocation) error {
	opened, err := inv.open()
	if err != nil {
		return err
	}
	return c.printEach(inv, c.Names, func(name string) (domarkx.Info, error) {
		return opened.turns.Restore(inv.ctx, name)
	})
}
