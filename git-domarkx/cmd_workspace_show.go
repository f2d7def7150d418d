package main

import (
	"github.com/domarkx/domarkx"
)

type workspaceShowCmd struct {
	JSON     bool   `name:"json" help:"Print a JSON object."`
	Revision string `arg:"" name:"WS[@OID]" help:"A workspace, WS~2, WS@OID, or the message NAME#K of a session."`
}

func (workspaceShowCmd) Help() string {
	return `
Lists the resources of a version of a workspace, as the document has them.

## Output

    RESOURCE  TYPE  VERSION  CONFIG

VERSION is the object id of what the resource holds, the same for equal content
everywhere; CONFIG is the document's object as JSON. The object of --json has the members
workspace, oid, number, date, subject, operation, parents, call (as that of workspace
log) and resources, an array of objects with id, type, version and config.
`
}

// Run shows a version.
func (c *workspaceShowCmd) Run(inv *invocation) error {
	_, _, v, err := inv.version(c.Revision)
	if err != nil {
		return err
	}
	if err := inv.page(); err != nil {
		return err
	}
	if c.JSON {
		_, err := inv.out.Write(append(escapeControls(versionObject(v).AppendJSON(nil, "", "  ")), '\n'))
		return err
	}
	t := newTable("RESOURCE", "TYPE", "VERSION", "CONFIG")
	for _, r := range v.Resources {
		t.add(text(r.ID), text(r.Type), oid(r.Version), text(r.Config.JSON()))
	}
	return t.write(inv)
}

func versionObject(v domarkx.Version) domarkx.Value {
	var parents, resources []domarkx.Value
	for _, p := range v.Parents {
		parents = append(parents, domarkx.StringValue(p))
	}
	for _, r := range v.Resources {
		resources = append(resources, domarkx.ObjectValue(jsonText("id", r.ID), jsonText("type", r.Type),
			jsonText("version", r.Version), domarkx.Member{Name: "config", Value: r.Config}))
	}
	members := []domarkx.Member{jsonText("workspace", v.Workspace), jsonText("oid", v.ID), jsonNumber("number", int64(v.Number)),
		jsonDate("date", v.Date), jsonText("subject", v.Subject), jsonText("operation", v.Operation),
		{Name: "parents", Value: domarkx.ArrayValue(parents...)}}
	members = append(members, jsonCall(v.Call)...)
	return domarkx.ObjectValue(append(members, domarkx.Member{Name: "resources", Value: domarkx.ArrayValue(resources...)})...)
}
