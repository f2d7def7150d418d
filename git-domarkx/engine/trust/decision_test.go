package trust_test

import (
	"context"
	"errors"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/permit"
)

// TestDecisions asks for each act, for sessions that are trusted, trusted but for a call, or not at all, with each consent.
func TestDecisions(t *testing.T) {
	c := newClone(t)
	call := twoCalls + enginetest.CallBlock("write", `{"name": "a", "text": "b"}`)
	sessions := map[string]domarkx.Info{"trusted": c.Trusted("trusted", call), "plain": c.Trusted("plain", "## user\n\nHello.\n")}
	c.Trusted("pending", enginetest.NotesConfig+"\n## user\n\nWrite.\n")
	c.ImportFile(c.WriteFile("pending.md", enginetest.NotesConfig+"\n## user\n\nWrite.\n\n## assistant\n\n"+enginetest.CallBlock("write", `{}`)))
	c.ImportFile(c.WriteFile("foreign.md", "```workspace-config\nresources:\n  - {type: notes, id: notes, title: foreign}\n```\n\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "c", "text": "d"}`)))
	for _, name := range []string{"pending", "foreign"} {
		sessions[name] = c.Tip(name)
	}
	safe := c.Version("safe", nil, enginetest.RegularFile("a", "x"))
	harmful := c.Version("harmful", nil, enginetest.OtherFile(".git", domarkx.Symlink, "../x"))
	own := domarkx.ResourceSpec{ID: "notes", Type: "notes", Config: notes(c).Config}
	in := func(specs ...domarkx.ResourceSpec) permit.Permit {
		return permit.Issue("s", permit.What{Content: permit.Whole, Workspace: "s", Resources: specs}, permit.Trusted, permit.Shared)
	}
	there := own
	there.Config = own.Config.With("path", own.Config)
	say := func(d trust.Decision) func(context.Context, string, string) (trust.Decision, error) {
		return func(context.Context, string, string) (trust.Decision, error) { return d, nil }
	}
	asked := func(yes bool) trust.Consent {
		return trust.Consent{Ask: func(context.Context, *trust.UntrustedError) (bool, error) { return yes, nil }}
	}
	consents := []trust.Consent{{}, asked(false), asked(true), {Yes: true}}
	model := trust.ModelCall{Session: "s", Resource: "srv", Tool: "get"}
	const no, trusted, approved, option, live = permit.None, permit.Trusted, permit.Approved, permit.Option, permit.Live
	always := func(r permit.Right) []permit.Right { return []permit.Right{r, r, r, r} }
	untrusted := []permit.Right{no, no, approved, option}
	for name, tt := range map[string]struct {
		act  trust.Act
		want []permit.Right // for each consent
	}{
		"all of a trusted session":          {trust.Session{Info: sessions["trusted"]}, always(trusted)},
		"all of one that runs nothing":      {trust.Session{Info: sessions["plain"]}, always(trusted)},
		"all, with a new call":              {trust.Session{Info: sessions["pending"]}, untrusted},
		"all but the new call":              {trust.Session{Info: sessions["pending"], Settled: true}, always(trusted)},
		"all of a foreign session":          {trust.Session{Info: sessions["foreign"]}, untrusted},
		"all of a foreign one but its call": {trust.Session{Info: sessions["foreign"], Settled: true}, untrusted},
		"opening, trusted":                  {trust.Open{Session: trust.Session{Info: sessions["trusted"]}, Workspace: "trusted"}, always(trusted)},
		"opening, foreign":                  {trust.Open{Session: trust.Session{Info: sessions["foreign"]}, Workspace: "foreign"}, untrusted},
		"opening for a replay":              {trust.Open{Session: trust.Session{Info: sessions["foreign"]}, Workspace: "foreign", In: permit.Temporary}, untrusted},
		"opening what is live":              {trust.Present{Workspace: "foreign"}, always(live)},
		"loading into own files":            {trust.Load{Into: in(own), To: harmful}, always(trusted)},
		"loading to the user's files":       {trust.Load{Into: in(there), To: safe}, always(trusted)},
		"loading a repository there":        {trust.Load{Into: in(there), To: harmful}, untrusted},
		"loading the same there":            {trust.Load{Into: in(there), From: harmful, To: harmful}, always(trusted)},
		"loading without a permit":          {trust.Load{To: safe}, always(no)},
		"writing, harmless":                 {trust.Write{Session: sessions["foreign"], Version: safe}, []permit.Right{trusted, trusted, trusted, option}},
		"writing a repository":              {trust.Write{Session: sessions["trusted"], Version: harmful}, untrusted},
		"writing one of nobody":             {trust.Write{Version: harmful}, untrusted},
		"resuming an own session":           {trust.Resume{Session: "s", Program: "p", Own: true}, always(trusted)},
		"resuming that of a remote":         {trust.Resume{Session: "s", Program: "p"}, untrusted},
		"the call of a model":               {model, always(no)},
	} {
		for i, consent := range consents {
			p, err := c.Gate(consent).Permit(t.Context(), tt.act)
			if p.Right() != tt.want[i] || (p.Right() == no) != (err != nil) {
				t.Errorf("%s, consent %d: right %d, %v, want %d", name, i, p.Right(), err, tt.want[i])
			}
		}
	}
	calls := func(readOnly, listed bool) trust.ModelCall {
		m := model
		m.ReadOnly, m.Listed = readOnly, listed
		return m
	}
	for name, tt := range map[string]struct {
		calls trust.Calls
		act   trust.ModelCall
		want  permit.Right
		err   error
	}{
		"nobody to ask":              {trust.Calls{}, model, no, trust.ErrNotAsked},
		"all":                        {trust.Calls{All: true}, model, option, nil},
		"reading":                    {trust.Calls{ReadOnly: true}, calls(true, false), option, nil},
		"not only reading":           {trust.Calls{ReadOnly: true}, model, no, trust.ErrNotAsked},
		"reading, not agreed to":     {trust.Calls{}, calls(true, false), no, trust.ErrNotAsked},
		"named tool of a server":     {trust.Calls{ReadOnly: true, Listed: []string{"srv__get"}}, calls(false, true), option, nil},
		"other tool of a server":     {trust.Calls{ReadOnly: true, Listed: []string{"srv__set"}}, calls(false, true), no, trust.ErrNotAsked},
		"named tool of no server":    {trust.Calls{ReadOnly: true, Listed: []string{"srv__get"}}, model, no, trust.ErrNotAsked},
		"named, but not agreed to":   {trust.Calls{Listed: []string{"srv__get"}}, calls(false, true), no, trust.ErrNotAsked},
		"asked, yes":                 {trust.Calls{Ask: say(trust.Allow)}, model, approved, nil},
		"asked, no":                  {trust.Calls{Ask: say(trust.Deny)}, model, no, trust.ErrDeclined},
		"asked, no answer":           {trust.Calls{Ask: say(trust.Stop)}, model, no, trust.ErrNotAsked},
		"not only reading, then yes": {trust.Calls{ReadOnly: true, Ask: say(trust.Allow)}, model, approved, nil},
	} {
		if p, err := c.Gate(trust.Consent{Calls: tt.calls}).Permit(t.Context(), tt.act); p.Right() != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: right %d, %v, want %d, %v", name, p.Right(), err, tt.want, tt.err)
		}
	}
}

// TestPermitsCoverOneThing tries to make a call with permits for something else.
func TestPermitsCoverOneThing(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	info := c.Trusted("n", enginetest.NotesConfig+"\n## user\n\nWrite.\n")
	g := c.Gate(trust.Consent{Calls: trust.Calls{All: true}})
	get := func(a trust.Act) permit.Permit {
		t.Helper()
		p, err := g.Permit(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	settled := get(trust.Open{Session: trust.Session{Info: info, Settled: true}, Workspace: "n"})
	live, err := c.Env.Workspaces.Open(ctx, settled, plugins.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close(context.Background())
	block := domarkx.Block{Type: domarkx.CodeBlock, Language: "tool-call", Text: `{"resource": "notes", "tool": "write", "arguments": {"name": "a", "text": "b"}}`}
	for name, by := range map[string]permit.Permit{
		"none": {}, "all but calls": settled, "another tool": get(trust.ModelCall{Session: "n", Resource: "notes", Tool: "read"}), "what is live": get(trust.Present{Workspace: "n"}),
	} {
		if p, err := g.Permit(ctx, trust.Call{By: by, In: live, Block: block}); err == nil {
			t.Errorf("%s: permitted %+v", name, p)
		}
		if _, err := live.Call(ctx, by); err == nil {
			t.Errorf("%s: called without a permit", name)
		}
	}
	for name, by := range map[string]permit.Permit{"the tool": get(trust.ModelCall{Session: "n", Resource: "notes", Tool: "write"}), "all": get(trust.Session{Info: info})} {
		p := get(trust.Call{By: by, In: live, Block: block})
		if _, err := live.Call(ctx, p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	elsewhere := permit.Issue("n", permit.What{Workspace: "other", Resource: "notes", Call: &domarkx.Call{Tool: "read"}}, permit.Trusted, permit.Shared)
	if _, err := live.Call(ctx, elsewhere); err == nil {
		t.Error("called with a permit for another workspace")
	}
	for _, p := range []permit.Permit{{}, permit.Issue("n", permit.What{Workspace: "n"}, permit.None, permit.Shared)} {
		if _, err := c.Env.Workspaces.Open(ctx, p, plugins.Options{}); err == nil {
			t.Error("opened without a permit")
		}
	}
	v := c.Version("n", nil, enginetest.RegularFile("a", "x"))
	if err := live.Load(ctx, settled, v); err == nil {
		t.Error("loaded a version that the permit does not name")
	}
	if err := live.Load(ctx, get(trust.Load{Into: get(trust.Present{Workspace: "n"}), To: v}), v); err == nil {
		t.Error("loaded with a permit for what is live")
	}
	if _, err := live.Reconfigure(ctx, get(trust.Present{Workspace: "n"})); err == nil {
		t.Error("reconfigured with a permit for what is live")
	}
}
