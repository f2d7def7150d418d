package observe_test

import (
	"fmt"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/events"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// TestExpireBesideRecording lets versions expire between the steps of a recording. All messages get their links, and nothing that
// expired comes back.
func TestExpireBesideRecording(t *testing.T) {
	d := newDesk(t)
	a := d.agent(t, 1)
	beside := enginetest.Open(t, d.top, &enginetest.Settings{Values: map[string][]string{}})
	redactor := redact.NewRedactor(beside.Store, beside.Env, scan.New(beside.Store, beside.Env))
	beside.Redacts(redactor)
	expiries := redact.New(beside.SessionManager, redactor)
	expired := 0
	a.meanwhile = func() {
		done, err := expiries.Expire(t.Context(), redact.Policy{Newest: 2}, false)
		if err != nil {
			t.Error("expire: ", err)
		}
		expired += len(done.Versions)
	}
	turns := gittest.Rounds(3, 10)
	for turn := range turns {
		call := fmt.Sprint("c", turn)
		d.write("f", fmt.Sprint("by hand ", turn))
		a.hook(events.Prompt)
		a.user("Go on.")
		a.calls(call)
		d.write("f", fmt.Sprint("by the call ", turn))
		a.hook(events.Batch, call)
		a.result(call)
		a.answers("Done.")
		a.hook(events.Turn)
		a.record()
	}
	if expired == 0 {
		t.Error("nothing expired")
	}
	replaced, err := d.store.Replacements()
	if err != nil {
		t.Fatal(err)
	}
	tip, err := d.store.Tip(t.Context(), a.name)
	if err != nil {
		t.Fatal(err)
	}
	tips := []string{tip.ID}
	for _, w := range d.workspaces() {
		tips = append(tips, w.ID)
	}
	all, err := d.store.Commits(t.Context(), tips, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range all {
		if replaced[id] != "" {
			t.Errorf("the history has %.12s, which was replaced", id)
		}
	}
	linked := 0
	for e, err := range d.store.Entries(t.Context(), tip.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Role == domarkx.Assistant && e.Link != "" {
			linked++
		}
	}
	if linked != 2*turns {
		t.Errorf("%d of %d answers are linked", linked, 2*turns)
	}
	git(t, d.top, "fsck", "--strict")
}
