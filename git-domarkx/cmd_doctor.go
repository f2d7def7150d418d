package main

import "github.com/domarkx/domarkx/git-domarkx/mountd"

type doctorCmd struct {
	findingOption
}

func (doctorCmd) Help() string {
	return `
Looks at what git-domarkx needs here: the version of Git, the formats of the repository,
manual pages, FUSE, the isolation of commands, mounts that died, journals and locks that were left behind,
configuration that does not fit, calls that were interrupted, and workspaces, containers
and private servers that were left behind. It says for each coding agent whether it is recorded,
since when, whether its hooks are active, and what to do if not.

## Output

    SEVERITY  WHAT  WHERE  FIX

A line for each finding. SEVERITY is error, warning or info; FIX is a command, or says
what to do. The objects of --json have the members severity, what, where and fix.
`
}

func (doctorCmd) ExitOne() string { return "There is a finding of severity error." }

func (c *doctorCmd) Run(inv *invocation) error {
	inv.patience = mountd.ReportPatience
	d := doctor{inv: inv}
	for _, check := range []func(){d.git, d.manual, d.fuse, d.commands, d.mounts, d.state, d.config, d.refspecs, d.workspaces, d.agents} {
		check()
		if err := inv.ctx.Err(); err != nil {
			return err
		}
	}
	return printFindings(inv, append(d.found, inv.draftFindings()...), c.JSON)
}
