package turns_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/replay"
	"github.com/domarkx/domarkx/gitstore"
)

// share writes the project file that the sessions of the clone share.
func (c *clone) share(text string) {
	c.T.Helper()
	if err := os.WriteFile(filepath.Join(c.Dir, project.File), []byte(text), 0o666); err != nil {
		c.T.Fatal(err)
	}
}

const sharedNotes = "[[resources]]\ntype = \"notes\"\n"

// TestProjectChangesWhileApproved: if the project file changes after it was shown for approval,
// only the approved content runs.
func TestProjectChangesWhileApproved(t *testing.T) {
	c := newClone(t)
	c.ImportFile(c.WriteFile("s.md", "## assistant\n\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`)))
	c.share(sharedNotes)
	var shown []trust.Runs
	_, _, err := c.run(turns.RunRequest{Name: "s", Approve: trust.Consent{Ask: func(_ context.Context, e *trust.UntrustedError) (bool, error) {
		shown = e.Listing
		c.share(sharedNotes + "title = \"not shown\"\n")
		return true, nil
	}}})
	if !errors.Is(err, domarkx.ErrConflict) || len(c.Notes.Calls()) > 0 {
		t.Errorf("%v, called %q", err, c.Notes.Calls())
	}
	if len(shown) != 2 || shown[0].Where != project.File || strings.Contains(shown[0].Text, "not shown") {
		t.Errorf("shown: %v", shown)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, ".git/domarkx/workspaces")); err == nil {
		t.Error("a resource was made")
	}
}

// TestProjectIsInTheManifest: a version records the config that created it. Keys of the document
// override those of the project file, and a cached digest becomes invalid when the file changes.
func TestProjectIsInTheManifest(t *testing.T) {
	c := newClone(t)
	c.share("[plugins.notes]\ntitle = \"shared\"\n")
	c.Trusted("s", "```workspace-config\nresources:\n  - {type: notes, id: notes}\n  - {type: notes, id: mine, title: own}\n```\n\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`))
	c.runs("s", "0.0 notes write ok")
	tip, err := c.Store.WorkspaceTip(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{"type":"notes","id":"notes","title":"shared"}`, `{"type":"notes","id":"mine","title":"own"}`} {
		if got := tip.Resources[i].Config.JSON(); got != want {
			t.Errorf("resource %d: %s, want %s", i, got, want)
		}
	}
	for _, step := range []struct {
		text string
		held bool
	}{{"[plugins.notes]\ntitle = \"other\"\n", false}, {"[plugins.notes]\ntitle = \"shared\"\n", true}, {"[plugins.notes]\n", false}, {"x", false}, {"# more\n[plugins.notes]\ntitle = 'shared'\n", true}} {
		c.share(step.text)
		if held, err := c.IsTrusted(t.Context(), c.Tip("s")); held != step.held || err != nil {
			t.Errorf("%q: trusted %v, %v", step.text, held, err)
		}
	}
}

// TestAttachedResourcesAreTrusted: the resources of a workspace that came from elsewhere need
// trust. Those that are live here do not.
func TestAttachedResourcesAreTrusted(t *testing.T) {
	c := newClone(t)
	c.Trusted("host", enginetest.NotesConfig+"\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`))
	c.Trusted("guest", "```workspace-config\nresources:\n  - {type: notes, id: own}\n```\n")
	c.runs("host", "0.0 notes write ok")
	attach := func(workspace string) {
		t.Helper()
		if err := c.AttachWorkspace(t.Context(), "guest", workspace); err != nil {
			t.Fatal(err)
		}
	}
	held := func(what string, want bool) {
		t.Helper()
		if held, err := c.IsTrusted(t.Context(), c.Tip("guest")); held != want || err != nil {
			t.Errorf("%s: trusted %v, %v", what, held, err)
		}
	}
	attach("host")
	held("live", true)
	attach("guest")
	held("its own", true)
	if err := c.Env.Workspaces.TearDown(t.Context(), "host"); err != nil {
		t.Fatal(err)
	}
	for key, ending := range map[string]string{"workspace": "guest host", "trust": " guest"} {
		c.Settings.Change(t.Context(), key, func(values []string) []string {
			return slices.DeleteFunc(values, func(value string) bool { return strings.HasSuffix(value, ending) })
		})
	}
	if err := c.Trust(t.Context(), c.Tip("guest")); err != nil {
		t.Fatal(err)
	}
	attach("host")
	held("not live", false)
}

// TestForgedManifestIsNotOpened: a trusted session opens its resources as its document states,
// even if a version that came from elsewhere states something else.
func TestForgedManifestIsNotOpened(t *testing.T) {
	forge := func(c *clone) {
		t.Helper()
		tip, err := c.Store.WorkspaceTip(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		forged := tip.Resources[0]
		forged.Config = forged.Config.With("title", jsonvalue.StringValue("forged"))
		more := forged
		more.ID = "more"
		err = c.Store.Update(t.Context(), "pull", func(tx *gitstore.Tx) error {
			v, err := tx.CommitVersion(t.Context(), "s", domarkx.VersionCommit{Parents: []string{tip.ID}, Operation: "call",
				Resources: []domarkx.ResourceVersion{more, forged}})
			if err != nil {
				return err
			}
			return tx.SetWorkspace(t.Context(), "s", v.ID)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, live := range []bool{true, false} {
		c := newClone(t)
		c.Trusted("s", enginetest.NotesConfig+"\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`))
		c.runs("s", "0.0 notes write ok")
		if !live {
			if err := c.Env.Workspaces.TearDown(t.Context(), "s"); err != nil {
				t.Fatal(err)
			}
		}
		forge(c)
		report, err := c.Exec(t.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "read", Pairs: []string{"name=a"}})
		if err != nil || report.Result.Text() != "1" {
			t.Fatalf("live %v: %v, %v", live, report, err)
		}
		if slices.Contains(c.Notes.Titles, "forged") {
			t.Errorf("live %v: opened as the version says: %q", live, c.Notes.Titles)
		}
		tip, err := c.Store.WorkspaceTip(t.Context(), "s")
		if err != nil || len(tip.Resources) != 1 || tip.Operation != "configure" {
			t.Errorf("live %v: the newest version is %+v, %v", live, tip, err)
		}
		before := tip.ID
		c.write1("s", "1")
		if tip, err = c.Store.WorkspaceTip(t.Context(), "s"); err != nil || tip.ID != before {
			t.Errorf("live %v: a call that changed nothing left a version: %v", live, err)
		}
		c.Fsck()
	}
}

// TestForgedLinkIsNotOpened: the same for versions that a remote linked to a message.
func TestForgedLinkIsNotOpened(t *testing.T) {
	forged := func(c *clone) {
		t.Helper()
		ctx := t.Context()
		tip, err := c.Store.WorkspaceTip(ctx, "s")
		if err != nil {
			t.Fatal(err)
		}
		resource := tip.Resources[0]
		resource.Config = resource.Config.With("title", jsonvalue.StringValue("forged"))
		session := c.Tip("s")
		state, err := c.Store.Load(ctx, session.ID)
		if err != nil {
			t.Fatal(err)
		}
		err = c.Store.Update(ctx, "pull", func(tx *gitstore.Tx) error {
			v, err := tx.CommitVersion(ctx, "s", domarkx.VersionCommit{Operation: "change", Resources: []domarkx.ResourceVersion{resource}})
			if err != nil {
				return err
			}
			state.Thread.Live[0].Link = v.ID
			info, err := tx.Commit(ctx, domarkx.Commit{Parents: []string{session.ID, v.ID}, State: state, Operation: "pull"})
			if err != nil {
				return err
			}
			return tx.Set(ctx, "s", info.ID)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	to := engine.Revision{Name: "s", Message: 0}
	for name, open := range map[string]func(c *clone) error{
		"rewind": func(c *clone) error {
			_, err := c.Rewind(t.Context(), to)
			return err
		},
		"fork": func(c *clone) error {
			fork, err := c.Fork(t.Context(), to, "f")
			return errors.Join(err, fork.Asleep)
		},
		"replay": func(c *clone) error {
			_, err := c.Replay(t.Context(), replay.Request{Name: "s"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.Trusted("s", enginetest.NotesConfig+"\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`)+"\n## user\n\nThank you.\n")
			c.runs("s", "0.0 notes write ok")
			forged(c)
			opened := len(c.Notes.Titles)
			if err := open(c); err != nil {
				t.Fatal(err)
			}
			if slices.Contains(c.Notes.Titles, "forged") {
				t.Errorf("opened as the version says: %q", c.Notes.Titles)
			}
			if len(c.Notes.Titles) == opened {
				t.Error("nothing was opened")
			}
		})
	}
}
