package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// printSession prints where a session is now.
func printSession(inv *invocation, info domarkx.Info) error {
	t := newTable()
	t.add(text(info.Name), oid(info.ID))
	return t.write(inv)
}

// printExchange prints what became of each session; one that failed ends the
// command with the answer no. Where the exchange broke off, only what was done by
// then is printed.
func printExchange(inv *invocation, told []engine.Exchange, broke error) error {
	t := newTable()
	var failed error
	unsent := false
	for _, e := range told {
		rejected := e.Failed && e.Status != engine.Conflict
		if broke != nil && (rejected || e.Status == engine.UpToDate) {
			continue
		}
		t.add(text(e.Name), text(e.Status))
		if e.Failed {
			failed = errNo
		}
		unsent = unsent || rejected
	}
	inv.reportPending()
	if unsent {
		printError(inv.err, errors.New("not all sessions were exchanged; the lines of those that were not say what to do"))
	}
	return errors.Join(t.write(inv), failed, broke)
}

// reportPending prints why sessions do not have what was saved in a mount, and reports
// whether there are any.
func (inv *invocation) reportPending() bool {
	for _, name := range slices.Sorted(maps.Keys(inv.opened.pending)) {
		printError(inv.err, inv.opened.pending[name])
	}
	return len(inv.opened.pending) > 0
}

// mentionConflicts says how many conflicts sessions have.
func (inv *invocation) mentionConflicts(counts map[string]int) {
	if inv.opts.Quiet {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(inv.err, "%s has %s; to resolve: git domarkx edit %s\n", visible(name), describeConflicts(counts[name]), visible(name))
	}
}

func describeConflicts(n int) string {
	if n == 1 {
		return "1 conflict (a message or header in the texts of both sides)"
	}
	return fmt.Sprintf("%d conflicts (messages or headers in the texts of both sides)", n)
}

// mentionMerged says how many conflicts a pull left.
func (inv *invocation) mentionMerged(sessions *engine.SessionManager, all []engine.Exchange) error {
	list, err := sessions.List(inv.ctx)
	if list == nil {
		return err
	}
	list = slices.DeleteFunc(list, func(info domarkx.Info) bool {
		return !slices.ContainsFunc(all, func(e engine.Exchange) bool { return e.Name == info.Name && e.Status == engine.Conflict })
	})
	counts, err := sessions.Conflicts(inv.ctx, list)
	inv.mentionConflicts(counts)
	return err
}

// gitProgress is where Git shows how far it is; nil when nobody wants to know.
func (inv *invocation) gitProgress() io.Writer {
	if isTerminal(inv.err) && !inv.opts.Quiet && inv.opts.Progress {
		return inv.err
	}
	return nil
}

// mentionDrafts says which sessions, of all or of those named, have a save that is
// not in them. It is a hint: drafts that cannot be read are for fsck to tell.
func (inv *invocation) mentionDrafts(names ...string) {
	git, err := inv.git()
	if err != nil || inv.opts.Quiet {
		return
	}
	list, _ := draftJournal{draftsDir(git)}.List(inv.ctx)
	for _, d := range list {
		if len(names) == 0 || slices.Contains(names, d.Name) {
			fmt.Fprintf(inv.err, "%s has a save that is not in it: %s\nMend it in the mount or with: git domarkx edit %s\n",
				visible(d.Name), visible(d.Problem), visible(d.Name))
		}
	}
}
