package main

import (
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/checkout"
	"github.com/domarkx/domarkx/git-domarkx/find/compare"
)

type workspaceCmd struct {
	List     workspaceListCmd     `cmd:"" help:"List the workspaces."`
	Log      workspaceLogCmd      `cmd:"" help:"List the versions of a workspace."`
	Show     workspaceShowCmd     `cmd:"" help:"List the resources of a version."`
	Path     workspacePathCmd     `cmd:"" help:"Print where a workspace is live."`
	Diff     workspaceDiffCmd     `cmd:"" help:"Show what differs between two versions."`
	Checkout workspaceCheckoutCmd `cmd:"" help:"Write a version to a directory."`
	Attach   workspaceAttachCmd   `cmd:"" help:"Let a session work in another workspace."`
	Rm       workspaceRmCmd       `cmd:"" help:"Move a workspace to the trash."`
}

type workspaceListCmd struct{ rowsOption[workspaceRow] }

type workspaceRow struct {
	Workspace string    `json:"workspace" head:"NAME" doc:"the name of the workspace"`
	Number    int       `json:"number" head:"NUMBER" doc:"the number of its newest version"`
	Updated   timeField `json:"updated" head:"UPDATED" doc:"when that was made"`
	Subject   string    `json:"subject" head:"SUBJECT" show:"preview" doc:"the subject of its commit"`
	OID       oidField  `json:"oid" doc:"its commit"`
	Operation string    `json:"operation" doc:"what made it: create, call, change, rewind …"`
}

func (c *workspaceListCmd) Run(inv *invocation, opened managers) error {
	list, err := opened.store.Workspaces(inv.ctx)
	if err != nil {
		return err
	}
	return c.print(inv, mapped(list, func(v domarkx.Version) workspaceRow {
		return workspaceRow{v.Workspace, int(v.Number), timeField(v.Date), v.Subject, oidField(v.ID), v.Operation}
	}))
}

type workspaceLogCmd struct {
	rowsOption[versionRow]
	Revision revisionArg `arg:"" name:"WS" help:"A workspace, WS~2 or WS@OID."`
}

type versionRow struct {
	OID       oidField  `json:"oid" head:"VERSION" doc:"the commit of the version"`
	Date      timeField `json:"date" head:"DATE" doc:"when it was made"`
	Number    int       `json:"number" head:"NUMBER" doc:"its number, as in the mount"`
	Subject   string    `json:"subject" head:"SUBJECT" show:"preview" doc:"the subject of the commit"`
	Operation string    `json:"operation" doc:"what made it: create, call, change, rewind …"`
	Call      *callRow  `json:"call,omitempty" doc:"the call that made it, if one did"`
	Expired   string    `json:"expired,omitempty" doc:"when and why its files were removed; absent if it has them"`
}

type callRow struct {
	Session  string `json:"session" doc:"the session that called"`
	Message  string `json:"message" doc:"the id of the message with the call"`
	Index    int    `json:"index" doc:"the number of the call in the message, from 0"`
	Resource string `json:"resource" doc:"the resource that was called"`
	Tool     string `json:"tool,omitempty" doc:"the tool; a block of code has none"`
}

func versionRowOf(v domarkx.Version) versionRow {
	row := versionRow{OID: oidField(v.ID), Date: timeField(v.Date), Number: int(v.Number), Subject: v.Subject, Operation: v.Operation}
	if v.Expired != nil {
		row.Expired = v.Expired.String()
		row.Subject += " (files " + row.Expired + ")"
	}
	if c := v.Call; c != nil {
		row.Call = &callRow{c.Session, c.Message.String(), int(c.Index), c.Resource, c.Tool}
	}
	return row
}

func (c *workspaceLogCmd) Run(inv *invocation, opened managers) error {
	var list []versionRow
	for v, err := range opened.sessions.VersionLog(inv.ctx, c.Revision.Revision) {
		if err != nil {
			return err
		}
		list = append(list, versionRowOf(v))
	}
	return c.print(inv, list)
}

type workspaceShowCmd struct {
	rowOption[workspaceShowRow]
	Revision revisionArg `arg:"" name:"WS[@OID]" of:"message" help:"A workspace, WS~2, WS@OID, or the message NAME#K of a session."`
}

func (c *workspaceShowCmd) Run(inv *invocation, opened managers) error {
	v, err := opened.sessions.ResolveVersion(inv.ctx, c.Revision.Revision)
	if err != nil {
		return err
	}
	if err := inv.page(); err != nil {
		return err
	}
	rows := mapped(v.Resources, func(r domarkx.ResourceVersion) resourceRow {
		return resourceRow{r.ID, r.Type, oidField(r.Version), r.Config}
	})
	if c.JSON {
		return c.print(inv, workspaceShowRow{v.Workspace, versionRowOf(v), v.Parents, rows})
	}
	return printResults(inv, false, rows)
}

type workspaceShowRow struct {
	Workspace string `json:"workspace" doc:"the name of the workspace"`
	versionRow
	Parents   []string      `json:"parents" doc:"the versions before it"`
	Resources []resourceRow `json:"resources" doc:"its resources"`
}

type resourceRow struct {
	ID      string          `json:"id" head:"RESOURCE" doc:"the id of the resource"`
	Type    string          `json:"type" head:"TYPE" doc:"its type"`
	Version oidField        `json:"version" head:"VERSION" doc:"its version: the tree of its content"`
	Config  jsonvalue.Value `json:"config" head:"CONFIG" doc:"its configuration, as in the document"`
}

type workspacePathCmd struct {
	rowsOption[pathRow]
	Workspace string `arg:"" name:"WS" help:"The workspace."`
	Resource  string `arg:"" optional:"" name:"RESOURCE" help:"One of its resources; without it, all that are directories."`
}

func (c *workspacePathCmd) Run(inv *invocation, opened managers) error {
	paths, err := opened.turns.WorkspacePaths(inv.ctx, c.Workspace, c.Resource)
	if err != nil {
		return err
	}
	w := c.prompt(inv)
	for _, dir := range paths {
		_ = w.add(pathRow{pathField(dir)})
	}
	return w.end()
}

type workspaceDiffCmd struct {
	A revisionArg `arg:"" name:"A" of:"message" help:"A version: the old side. WS, WS~2, WS@OID, or the message NAME#K of a session."`
	B revisionArg `arg:"" name:"B" of:"message" help:"The new side."`
}

func (c *workspaceDiffCmd) Run(inv *invocation, opened managers) error {
	a, err := opened.sessions.ResolveVersion(inv.ctx, c.A.Revision)
	if err != nil {
		return err
	}
	b, err := opened.sessions.ResolveVersion(inv.ctx, c.B.Revision)
	if err != nil {
		return err
	}
	differ := false
	err = compare.Versions(inv.ctx, opened.store, a, b, func(text []byte) error {
		if !differ {
			differ = true
			if err := inv.page(); err != nil {
				return err
			}
		}
		return writeDiff(inv, text)
	})
	if err != nil {
		return err
	}
	if differ {
		return errNo
	}
	return nil
}

type workspaceCheckoutCmd struct {
	pathOption
	Yes      bool        `help:"Write what the help of checkout names as risky, too."`
	Revision revisionArg `arg:"" name:"WS[@OID]" of:"message" help:"A workspace, WS~2 or WS@OID."`
	Dir      string      `arg:"" name:"DIR" help:"A directory that is empty or not there."`
}

func (c *workspaceCheckoutCmd) Run(inv *invocation, opened managers) error {
	v, err := opened.sessions.ResolveVersion(inv.ctx, c.Revision.Revision)
	if err != nil {
		return err
	}
	return c.checkOut(inv, opened, checkout.Request{Of: tipOf(c.Revision.Name), Version: v, Dir: c.Dir, Yes: c.Yes})
}

type workspaceAttachCmd struct {
	rowOption[attachRow]
	Name      string `arg:"" name:"NAME" of:"session" help:"The session."`
	Workspace string `arg:"" name:"WS" help:"The workspace that its calls are to run in."`
}

func (c *workspaceAttachCmd) Run(inv *invocation, opened managers) error {
	if err := opened.turns.AttachWorkspace(inv.ctx, c.Name, c.Workspace); err != nil {
		return err
	}
	return c.print(inv, attachRow{c.Name, c.Workspace})
}

type attachRow struct {
	Session   string `json:"session" head:"NAME" doc:"the name of the session"`
	Workspace string `json:"workspace" head:"WORKSPACE" doc:"the workspace that it uses on this machine"`
}

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

// loss returns a function that warns about lost changes if the user forces the removal, or nil: then changes must not be lost.
func (inv *invocation) loss(force bool) func(error) {
	if !force {
		return nil
	}
	return func(err error) { inv.warn(fmt.Errorf("warning: %w", err)) }
}
