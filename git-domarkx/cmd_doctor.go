package main

import "github.com/domarkx/domarkx/git-domarkx/mountd"

type doctorCmd struct {
	findingOption
}

func (c *doctorCmd) Run(inv *invocation) error {
	inv.patience = mountd.ReportPatience
	d := doctor{inv: inv}
	for _, check := range []func(){d.git, d.manual, d.fuse, d.commands, d.mounts, d.state, d.config, d.workspaces, d.agents} {
		check()
		if err := inv.ctx.Err(); err != nil {
			return err
		}
	}
	return c.printFindings(inv, append(d.found, inv.draftFindings()...))
}
