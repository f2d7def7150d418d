package main

import "github.com/domarkx/domarkx/format/domarkx"

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
	list, err := collect(opened.sessions.VersionLog(inv.ctx, c.Revision.Revision))
	if err != nil {
		return err
	}
	return c.print(inv, rowsOf(list, versionRowOf))
}
