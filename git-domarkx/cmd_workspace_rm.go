package main

import "fmt"

type workspaceRmCmd struct {
	rowOption[workspaceRmRow]
	Workspace string `arg:"" name:"WS" help:"The workspace."`
	Force     bool   `name:"force" help:"Remove it even where what changed cannot be committed."`
}

func (c *workspaceRmCmd) Run(inv *invocation, opened managers) error {
	v, err := opened.turns.RemoveWorkspace(inv.ctx, c.Workspace, inv.loss(c.Force))
	if err != nil {
		return err
	}
	if v.ID == "" {
		inv.warn(fmt.Errorf("workspace %q had already been removed; its remaining files on this machine were deleted", c.Workspace))
	}
	return c.print(inv, workspaceRmRow{c.Workspace, oidField(v.ID)})
}

type workspaceRmRow struct {
	Workspace string   `json:"workspace" head:"NAME" doc:"the name of the workspace"`
	OID       oidField `json:"oid" head:"VERSION" doc:"its newest version, now in the trash; empty for none"`
}

// loss returns a function that warns about lost changes if the user forces the removal, or
// nil: then changes must not be lost.
func (inv *invocation) loss(force bool) func(error) {
	if !force {
		return nil
	}
	return func(err error) { inv.warn(fmt.Errorf("warning: %w", err)) }
}
