package main

import "os"

type unmountCmd struct {
	Dir string `arg:"" optional:"" name:"DIR" help:"The folder; as for mount when none is given."`
}

func (unmountCmd) Help() string {
	return `
Ends a mount. Saves that are not snapshots yet become such first. A mount that somebody
uses stays as it is, and the command says who does.

## Output

The folder.
`
}

// ExitOne says what exit status 1 means.
func (unmountCmd) ExitOne() string { return "The mount is in use; it is left whole." }

// Run unmounts.
func (c *unmountCmd) Run(inv *invocation) error {
	dir, err := inv.mountDir(c.Dir)
	if err != nil {
		return err
	}
	if err := inv.unmount(dir); err != nil {
		return err
	}
	if c.Dir == "" {
		os.Remove(dir) // mount makes it again; one of the user's is not empty or does not mind
	}
	return printLine(inv, dir)
}
