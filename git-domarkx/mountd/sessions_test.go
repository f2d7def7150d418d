package mountd_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
)

// adapted returns a repository, and its sessions as a mount sees them.
func adapted(t *testing.T) (*enginetest.Clone, mountd.Sessions) {
	t.Helper()
	for name, value := range map[string]string{"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"} {
		t.Setenv(name, value)
	}
	c := enginetest.New(t)
	return c, mountd.Sessions{Store: c.Store, Sessions: c.SessionManager, Turns: turns.New(c.SessionManager, trust.New(c.Store, c.Env), c.Store, c.Env)}
}

func namesOf(list []domarkx.Info) string {
	var names []string
	for _, info := range list {
		names = append(names, info.Name)
	}
	return strings.Join(names, " ")
}

// TestSessionsOfAMount checks the sessions that a mount shows, and that sizes are those of the documents.
func TestSessionsOfAMount(t *testing.T) {
	c, s := adapted(t)
	c.Trusted("talk", enginetest.NotesConfig+"\n## user\n\none\n\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "n", "text": "x"}`))
	if _, err := s.Turns.Run(t.Context(), turns.RunRequest{Name: "talk"}); err != nil {
		t.Fatal(err)
	}
	c.Appended("team/a", "first")
	c.Appended("team/b", "second")
	tip, err := s.Info(t.Context(), "talk")
	if err != nil || tip.ID != c.Tip("talk").ID {
		t.Fatalf("%+v, %v", tip, err)
	}
	for prefix, want := range map[string]string{"": "talk team/a team/b", "team/": "team/a team/b", "none/": "", "t": "talk team/a team/b"} {
		if list, err := s.List(t.Context(), prefix); err != nil || namesOf(list) != want {
			t.Errorf("the sessions of %q are %s, %v", prefix, namesOf(list), err)
		}
	}
	history, err := s.History(t.Context(), "talk")
	if err != nil || len(history) < 2 || history[len(history)-1].ID != tip.ID || !slices.IsSortedFunc(history, func(a, b domarkx.Info) int { return a.Number - b.Number }) {
		t.Errorf("the history is %+v, %v", history, err)
	}
	for _, form := range []fusefs.Form{fusefs.Markdown, fusefs.JSON} {
		for _, snapshot := range history {
			data, err := s.Render(t.Context(), snapshot.ID, form)
			size, sizeErr := s.Size(t.Context(), snapshot.ID, form)
			if err != nil || sizeErr != nil || int64(len(data)) != size {
				t.Errorf("form %v of %s has %d bytes, its size is %d: %v, %v", form, snapshot.ID, len(data), size, err, sizeErr)
			}
		}
		if data, err := s.Message(t.Context(), tip.ID, 0, form); err != nil || !strings.Contains(string(data), "one") || strings.Contains(string(data), "tool-call") {
			t.Errorf("message 0 in form %v: %q, %v", form, data, err)
		}
	}
	roles, err := s.Roles(t.Context(), tip.ID)
	if err != nil || fmt.Sprint(roles) != "[user assistant]" {
		t.Errorf("the roles are %v, %v", roles, err)
	}
	workspace, err := c.Store.WorkspaceTip(t.Context(), "talk")
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int]string{0: "", 1: workspace.ID} {
		if link, err := s.Link(t.Context(), tip.ID, k); err != nil || link != want {
			t.Errorf("message %d is linked to %q, %v, expected %q", k, link, err, want)
		}
	}
	missing := strings.Repeat("1", 40)
	for name, err := range map[string]error{
		"a session": errorOf(s.Info(t.Context(), "none")), "a name that is none": errorOf(s.Info(t.Context(), "../HEAD")), "its history": errorOf(s.History(t.Context(), "none")),
		"a snapshot": errorOf(s.Render(t.Context(), missing, fusefs.Markdown)), "its size": errorOf(s.Size(t.Context(), missing, fusefs.JSON)),
		"a message": errorOf(s.Message(t.Context(), tip.ID, 9, fusefs.Markdown)), "its link": errorOf(s.Link(t.Context(), tip.ID, 9)),
	} {
		if !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("%s that is missing: %v", name, err)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

// TestChangesThroughAMount checks changes of sessions through a mount: names, saves, attachments, removal.
func TestChangesThroughAMount(t *testing.T) {
	c, s := adapted(t)
	base := c.Appended("talk", "one").ID
	for name, want := range map[string]error{"new": nil, "team/new": nil, "talk/below": domarkx.ErrExists, "a..b": domarkx.ErrInvalid, "": domarkx.ErrInvalid, "x.lock": domarkx.ErrInvalid} {
		if err := s.CheckName(t.Context(), name); !errors.Is(err, want) {
			t.Errorf("the name %q: %v, expected %v", name, err, want)
		}
	}
	text := c.Shown("talk")
	saved, err := s.Save(t.Context(), "talk", base, []byte(text+"\n## user\n\nmine\n"))
	if err != nil || saved.Merged || saved.Info.Messages != 2 || saved.Info.ID != c.Tip("talk").ID {
		t.Fatalf("a save: %+v, %v", saved, err)
	}
	saved, err = s.Save(t.Context(), "talk", base, []byte(strings.Replace(text, "one", "uno", 1)))
	if err != nil || !saved.Merged || !strings.Contains(c.Shown("talk"), "uno") || !strings.Contains(c.Shown("talk"), "mine") {
		t.Errorf("a save of an older state: %+v, %v\n%s", saved, err, c.Shown("talk"))
	}
	var syntax *syntax.Error
	before := c.Tip("talk").ID
	if _, err := s.Save(t.Context(), "talk", before, []byte("---\nx: [\n---\n")); !errors.As(err, &syntax) || c.Tip("talk").ID != before {
		t.Errorf("a save of no document: %v", err)
	}

	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	was, is, err := s.Attach(t.Context(), "talk", "p.png", []byte(png))
	if err != nil || was.ID != before || is.ID != c.Tip("talk").ID || is.ID == was.ID {
		t.Errorf("attached between %+v and %+v, %v", was, is, err)
	}
	if !s.IsImage([]byte(png)) || s.IsImage([]byte("<svg/>")) || s.IsImage(nil) {
		t.Error("images are not told from other files")
	}
	if shown, err := s.Shown(t.Context(), is.ID); err != nil || len(shown) != 0 {
		t.Errorf("it shows %q, %v", shown, err)
	}
	c.Saved("talk", is.ID, c.Shown("talk")+"\n## user\n\n![a picture](p.png)\n")
	if shown, err := s.Shown(t.Context(), c.Tip("talk").ID); err != nil || fmt.Sprint(shown) != "[p.png]" {
		t.Errorf("it shows %q, %v", shown, err)
	}

	if err := s.Rename(t.Context(), "talk", "renamed"); err != nil {
		t.Fatal(err)
	}
	if err := s.Rename(t.Context(), "talk", "again"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("the old name: %v", err)
	}
	if err := s.Remove(t.Context(), "renamed"); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), "renamed"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if _, err := s.Turns.Restore(t.Context(), "renamed"); err != nil {
		t.Errorf("it is not in the trash: %v", err)
	}
	if err := s.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	c.Fsck()
}
