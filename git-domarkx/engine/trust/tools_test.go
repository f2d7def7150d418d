package trust_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/plugins/permit"
)

// tools returns the tools that the only resource of the session "n" lists, by their names.
func tools(c *clone, names ...string) trust.ListedTools {
	c.T.Helper()
	list := make([]domarkx.Tool, len(names))
	for i, name := range names {
		list[i] = domarkx.Tool{Name: name, Description: "does " + name, Schema: jsonvalue.ObjectValue()}
	}
	return trust.ListTools(notes(c), list)
}

func notes(c *clone) domarkx.ResourceSpec {
	c.T.Helper()
	config, err := jsonvalue.ParseValue([]byte(`{"type": "notes"}`))
	if err != nil {
		c.T.Fatal(err)
	}
	return domarkx.ResourceSpec{ID: "notes", Type: "notes", Config: config}
}

// use asks a gate for tools of the session "n".
func use(g *trust.Gate, listed trust.ListedTools) error {
	_, err := g.Permit(context.Background(), trust.Tools{By: permit.Issue("n", permit.What{}, permit.Trusted, permit.Shared), Listed: listed})
	return err
}

// TestListedTools trusts the first list of a trusted session, and refuses every other one until the user trusts it.
func TestListedTools(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	var warnings []string
	c.Env.Warn = func(err error) { warnings = append(warnings, err.Error()) }
	m := trust.New(c.Store, c.Env)
	info := imported(c, twoCalls)
	if err := m.Trust(ctx, info); err != nil {
		t.Fatal(err)
	}
	check := func(listed trust.ListedTools) error {
		t.Helper()
		g := m.Gate(trust.Consent{})
		if err := whole(g, info); err != nil {
			t.Fatal(err)
		}
		return use(g, listed)
	}
	first := tools(c, "read", "write")
	for range 2 {
		if err := check(first); err != nil {
			t.Errorf("the first list: %v", err)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "read, write") {
		t.Errorf("warnings: %q", warnings)
	}
	for name, other := range map[string]trust.ListedTools{
		"one more":       tools(c, "read", "write", "delete"),
		"one less":       tools(c, "read"),
		"another order":  tools(c, "write", "read"),
		"other names":    tools(c, "rea", "dwrite"),
		"another schema": trust.ListTools(notes(c), []domarkx.Tool{{Name: "read", Schema: jsonvalue.StringValue("x")}, {Name: "write"}}),
		"none":           tools(c),
	} {
		var untrusted *trust.UntrustedError
		if err := check(other); !errors.As(err, &untrusted) || untrusted.Resource != "notes" || untrusted.Session != "n" || len(untrusted.Listing) != 1 {
			t.Errorf("%s: %v", name, err)
		}
		if err := check(first); err != nil {
			t.Errorf("after %s, the first list: %v", name, err)
		}
	}
	changed := tools(c, "read", "write", "delete")
	if err := check(changed); err == nil {
		t.Fatal("the tools are trusted")
	}
	if err := m.Trust(ctx, info); err != nil { // the user has seen the refused ones
		t.Fatal(err)
	}
	for name, listed := range map[string]trust.ListedTools{"the refused list": changed, "the first list": first} {
		if err := check(listed); err != nil {
			t.Errorf("after that, %s: %v", name, err)
		}
	}
	if len(warnings) != 1 {
		t.Errorf("warnings: %q", warnings)
	}
}

// TestApprovedTools asks for other tools. An approval holds for one run only.
func TestApprovedTools(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	info := imported(c, twoCalls)
	if err := c.Trust(ctx, info); err != nil {
		t.Fatal(err)
	}
	answer, asked := true, 0
	broken := errors.New("terminal closed")
	var fails error
	approve := func(_ context.Context, e *trust.UntrustedError) (bool, error) {
		asked++
		return answer, fails
	}
	passed := func() *trust.Gate {
		t.Helper()
		g := c.Gate(trust.Consent{Ask: approve})
		if err := whole(g, info); err != nil {
			t.Fatal(err)
		}
		return g
	}
	if err := use(passed(), tools(c, "a")); err != nil || asked != 0 {
		t.Errorf("the first list: asked %d times, %v", asked, err)
	}
	g := passed()
	for range 2 {
		if err := use(g, tools(c, "b")); err != nil || asked != 1 {
			t.Errorf("approved: asked %d times, %v", asked, err)
		}
	}
	answer = false
	var untrusted *trust.UntrustedError
	if err := use(passed(), tools(c, "b")); !errors.As(err, &untrusted) || asked != 2 {
		t.Errorf("in the next run: asked %d times, %v", asked, err)
	}
	fails = broken
	if err := use(passed(), tools(c, "b")); !errors.Is(err, broken) {
		t.Errorf("asking failed: %v", err)
	}
}

// TestToolsOfAnApprovedSession checks a session that is approved and not trusted: its tools are not trusted either.
func TestToolsOfAnApprovedSession(t *testing.T) {
	c := newClone(t)
	info := imported(c, twoCalls+enginetest.CallBlock("write", `{"name": "a", "text": "b"}`))
	g := c.Gate(trust.Consent{Yes: true})
	if err := whole(g, info); err != nil {
		t.Fatal(err)
	}
	if err := use(g, tools(c, "a")); err != nil {
		t.Errorf("covered by the approval: %v", err)
	}
	for key, values := range c.Settings.Values {
		if strings.Contains(strings.Join(values, " "), " n") {
			t.Errorf("%s was recorded: %q", key, values)
		}
	}
}

// TestManyTools names only some of very many tools, and keeps a bounded number of lists.
func TestManyTools(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	var warnings []string
	c.Env.Warn = func(err error) { warnings = append(warnings, err.Error()) }
	m := trust.New(c.Store, c.Env)
	info := imported(c, twoCalls)
	if err := m.Trust(ctx, info); err != nil {
		t.Fatal(err)
	}
	var names []string
	for n := range 50 {
		names = append(names, fmt.Sprint("tool", n))
	}
	g := m.Gate(trust.Consent{})
	if err := whole(g, info); err != nil {
		t.Fatal(err)
	}
	if err := use(g, tools(c, names...)); err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "tool19 and 30 others") || strings.Contains(warnings[0], "tool20") {
		t.Errorf("warnings: %q", warnings)
	}
	// Each list that is refused and then trusted is kept; a damaged file of refused ones is not.
	if err := use(g, tools(c, "x")); err == nil {
		t.Fatal("the tools are trusted")
	}
	files, err := filepath.Glob(filepath.Join(c.Env.StateDir, "tools", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("not a digest\nx"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Trust(ctx, info); err != nil {
		t.Fatal(err)
	}
	again := m.Gate(trust.Consent{})
	if err := whole(again, info); err != nil {
		t.Fatal(err)
	}
	if err := use(again, tools(c, "x")); err == nil {
		t.Error("a damaged file made tools trusted")
	}
}

// TestExecutionConfig checks which resources and which time limit a session-config asks for.
func TestExecutionConfig(t *testing.T) {
	for config, want := range map[string]string{
		`{}`:                        "",
		`{"engine": null}`:          "",
		`{"engine": "local_shell"}`: `local_shell {"type":"local_shell"}`,
		`{"engine": "docker", "image": "debian"}`: `docker_sandbox {"type":"docker_sandbox","image":"debian"}`,
		`{"engine": ""}`: "/execution_config/engine",
		`{"engine": 7}`:  "/execution_config/engine",
		`{"engine": "docker", "workspace": null}`:                               `docker_sandbox {"type":"docker_sandbox"}`,
		`{"workspace": {"resources": [{"type": "notes"}]}, "engine": "docker"}`: `notes {"type":"notes"}`,
	} {
		c := newClone(t)
		h := domarkx.NewHeader()
		value, err := jsonvalue.ParseValue([]byte(config))
		if err != nil {
			t.Fatal(err)
		}
		h.ExecutionConfig = value
		asked, err := c.ResourcesOf(t.Context(), "n", h)
		var got []string
		for _, spec := range asked.Specs {
			got = append(got, spec.ID+" "+spec.Config.JSON())
		}
		if strings.HasPrefix(want, "/") {
			var syntax *syntax.Error
			if !errors.As(err, &syntax) || syntax.Pointer != want {
				t.Errorf("%s: %v", config, err)
			}
		} else if err != nil || strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, %v; want %q", config, got, err, want)
		}
	}
	for text, want := range map[string]string{
		`{}`: "1m0s", `{"timeout": null}`: "1m0s", `{"timeout": 1.5}`: "1.5s", `{"timeout": 1e9}`: "277777h46m40s",
		`{"timeout": 0}`: "", `{"timeout": -1}`: "", `{"timeout": "5"}`: "", `{"timeout": 1e10}`: "", `{"timeout": 1e999}`: "",
	} {
		h := domarkx.NewHeader()
		value, err := jsonvalue.ParseValue([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		h.ExecutionConfig = value
		got, err := trust.CallTimeout(h)
		if want == "" && err == nil || want != "" && (err != nil || got.String() != want) {
			t.Errorf("%s: %v, %v; want %q", text, got, err, want)
		}
	}
}
