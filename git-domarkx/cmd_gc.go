package main

type gcCmd struct {
	findingOption
}

func (gcCmd) Help() string {
	return `
Tidies up: removes from the trash the sessions and workspaces that are older than gc.reflogExpireUnreachable (30 days
unless set), files of its own that nobody needs any more, and containers and private servers
whose workspace is gone from this machine (a container engine that is down is not waited
for). Objects are collected by "git gc".

## Output

    SEVERITY  WHAT  WHERE  FIX

A line for each finding. SEVERITY is error, warning or info; FIX is a command, or says
what to do. The objects of --json have the members severity, what, where and fix.
`
}

func (gcCmd) ExitOne() string { return "There is a finding of severity error." }

func (c *gcCmd) Run(inv *invocation) error {
	opened, err := inv.open()
	if err != nil {
		return err
	}
	stored, err := opened.store.GC(inv.ctx)
	if err != nil {
		return err
	}
	found := findings(stored)
	found = append(found, opened.turns.RemoveLeft(inv.ctx)...)
	if len(found) == 0 && !c.JSON {
		inv.allIsWell("gc: nothing to remove")
	}
	return printFindings(inv, found, c.JSON)
}
