package main

import "fmt"

type workspaceRmCmd struct {
	jsonOption
	Workspace string `arg:"" name:"WS" help:"The workspace."`
	Force     bool   `name:"force" help:"Remove it even where what changed cannot be committed."`
}

func (workspaceRmCmd) Help() string {
	return `
Commits what is live as a version, removes what the workspace has on this machine
(private directories, containers, databases; not a directory of the work tree), and moves the
workspace to the trash. "git domarkx restore WS" brings it back until gc empties the
trash. Versions that messages are linked to stay with their sessions.

What is left on this machine of a workspace that is gone, which doctor finds, is removed
likewise; without changes nothing goes to the trash, and there is no OID.

Where what changed cannot be committed, since a container engine is down or a plugin is
missing, nothing is removed. With --force, all that changed since the last version is
lost; a warning names the resources. Containers that could not be removed are for gc.

## Output

    NAME  OID
`
}

func (workspaceRmCmd) ExitOne() string {
	return "What changed in the workspace cannot be committed; nothing was removed."
}

func (c *workspaceRmCmd) Run(inv *invocation) error {
	opened, err := inv.open()
	if err != nil {
		return err
	}
	v, err := opened.turns.RemoveWorkspace(inv.ctx, c.Workspace, inv.loss(c.Force))
	if err != nil {
		return err
	}
	if v.ID == "" {
		inv.warn(fmt.Errorf("workspace %q had already been removed; its remaining files on this machine were deleted", c.Workspace))
	}
	return printResult(inv, c.JSON, workspaceRmRow{c.Workspace, oidField(v.ID)})
}

func (workspaceRmCmd) row() any { return workspaceRmRow{} }

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
