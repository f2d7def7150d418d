package main

import (
	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

type workspaceLogCmd struct {
	JSON     bool   `name:"json" help:"Print a JSON array."`
	Revision string `arg:"" name:"WS" help:"A workspace, WS~2 or WS@OID."`
}

func (workspaceLogCmd) Help() string {
	return `
Lists the versions of a workspace, newest first. Ordinary Git does it too: "git log
refs/domarkx/workspaces/WS".

## Output

    OID  DATE  NUMBER  SUBJECT

The number is that of the version's folder in a mount. The objects of --json have the
members oid, date, number, subject and operation, and for a version that a call left
call, with the members session, message (its id), index (of the call in the message),
resource and tool; a block of code that was run has no tool.
`
}

// Run lists the versions.
func (c *workspaceLogCmd) Run(inv *invocation) error {
	revision, err := engine.ParseRevision(c.Revision)
	if err != nil {
		return err
	}
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	list, err := collect(sessions.VersionLog(inv.ctx, revision))
	if err != nil {
		return err
	}
	if err := inv.page(); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(inv.out, list, func(v domarkx.Version) []domarkx.Member {
			return append([]domarkx.Member{jsonText("oid", v.ID), jsonDate("date", v.Date), jsonNumber("number", int64(v.Number)),
				jsonText("subject", v.Subject), jsonText("operation", v.Operation)}, jsonCall(v.Call)...)
		})
	}
	t := newTable("VERSION", "DATE", "NUMBER", "SUBJECT")
	for _, v := range list {
		t.add(oid(v.ID), date(v.Date), number(v.Number), text(v.Subject))
	}
	return t.write(inv)
}

// jsonCall is the member "call" of a version that a call left.
func jsonCall(call *domarkx.CallRecord) []domarkx.Member {
	if call == nil {
		return nil
	}
	members := []domarkx.Member{jsonText("session", call.Session), jsonText("message", call.Message.String()),
		jsonNumber("index", int64(call.Index)), jsonText("resource", call.Resource)}
	if call.Tool != "" {
		members = append(members, jsonText("tool", call.Tool))
	}
	return []domarkx.Member{{Name: "call", Value: domarkx.ObjectValue(members...)}}
}
