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

// A sessionRow is a session and its newest snapshot.
type sessionRow struct {
	Session string   `json:"session" head:"NAME" doc:"the name of the session"`
	OID     oidField `json:"oid" head:"SNAPSHOT" doc:"the commit of its newest snapshot"`
}

// sessionOption is the option of commands that print one session.
type sessionOption struct{ jsonOption }

func (sessionOption) row() any { return sessionRow{} }

// printSession prints a session and its newest snapshot.
func (o sessionOption) printSession(inv *invocation, info domarkx.Info) error {
	return printResult(inv, o.JSON, sessionRow{info.Name, oidField(info.ID)})
}

// sessionsOption is the option of commands that change several sessions.
type sessionsOption struct{ jsonOption }

func (sessionsOption) row() any { return []sessionRow{} }

// printEach calls change for each name, and prints the sessions for which it succeeded. It
// reports the errors of the others, and returns errNo if there are any.
func (o sessionsOption) printEach(inv *invocation, names []string, change func(name string) (domarkx.Info, error)) error {
	if len(names) == 1 && !o.JSON {
		info, err := change(names[0])
		if err != nil {
			return err
		}
		return printResult(inv, false, sessionRow{info.Name, oidField(info.ID)})
	}
	w := newResultWriter[sessionRow](inv, o.JSON)
	w.prompt = true
	var bad []error
	for _, name := range names {
		info, err := change(name)
		if err == nil {
			err = w.add(sessionRow{info.Name, oidField(info.ID)})
		}
		if err != nil {
			bad = append(bad, err)
		}
	}
	return errors.Join(w.end(), badInput(inv, bad))
}

// exchangeOption is the option of push, fetch and pull.
type exchangeOption struct{ jsonOption }

func (exchangeOption) row() any { return []exchangeRow{} }

// An exchangeRow says what became of a session.
type exchangeRow struct {
	Session string `json:"session" head:"NAME" doc:"the name of the session"`
	Status  string `json:"status" head:"STATUS" doc:"what became of it: see the statuses above"`
}

// printExchange prints what became of each session; one that failed ends the
// command with the answer no. Where the exchange broke off, only what was done by
// then is printed.
func (o exchangeOption) printExchange(inv *invocation, told []engine.Exchange, broke error) error {
	var rows []exchangeRow
	var failed error
	unsent := false
	for _, e := range told {
		rejected := e.Failed && e.Status != engine.Conflict
		if broke != nil && (rejected || e.Status == engine.UpToDate) {
			continue
		}
		rows = append(rows, exchangeRow{e.Name, e.Status})
		if e.Failed {
			failed = errNo
		}
		unsent = unsent || rejected
	}
	inv.reportPending()
	if unsent {
		printError(inv.err, errors.New("some sessions were not exchanged; see the reason on the line of each"))
	}
	w := newResultWriter[exchangeRow](inv, o.JSON)
	w.table.head = nil
	w.aligned = len(rows) + 1
	var err error
	for _, row := range rows {
		err = errors.Join(err, w.add(row))
	}
	return errors.Join(err, w.end(), failed, broke)
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
			fmt.Fprintf(inv.err, "%s has a saved text that could not become a snapshot: %s\nCorrect it in the mount, or with: git domarkx edit %s\n",
				visible(d.Name), visible(d.Problem), visible(d.Name))
		}
	}
}
