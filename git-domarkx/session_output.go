package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// A sessionRow is a session and its newest snapshot.
type sessionRow struct {
	Session string   `json:"session" head:"NAME" show:"name" doc:"the name of the session"`
	OID     oidField `json:"oid" head:"OID" doc:"the commit of its newest snapshot"`
}

// sessionOption holds the options of commands that print one session.
type sessionOption struct{ rowOption[sessionRow] }

// printSession prints a session and its newest snapshot, unless the command failed.
func (o sessionOption) printSession(inv *invocation, info domarkx.Info, err error) error {
	if err != nil {
		return err
	}
	return o.print(inv, sessionRow{info.Name, oidField(info.ID)})
}

// sessionsOption holds the options of commands that change several sessions.
type sessionsOption struct{ rowsOption[sessionRow] }

// printEach calls change for each name, and prints the sessions for which it succeeded.
// It reports the errors of the others, and returns errNo if any failed.
func (o sessionsOption) printEach(inv *invocation, names []string, change func(name string) (domarkx.Info, error)) error {
	if len(names) == 1 && !o.JSON {
		info, err := change(names[0])
		return sessionOption{}.printSession(inv, info, err)
	}
	w := o.prompt(inv)
	var bad error
	for _, name := range names {
		info, err := change(name)
		if err == nil {
			err = w.add(sessionRow{info.Name, oidField(info.ID)})
		}
		bad = errors.Join(bad, err)
	}
	return errors.Join(w.end(), inv.bad(bad))
}

// exchangeOption holds the options of push, fetch and pull.
type exchangeOption struct {
	rowsOption[exchangeRow]
	Remote string   `arg:"" optional:"" name:"REMOTE" help:"A remote or URL of Git; domarkx.remote, else the only one, else origin."`
	Names  []string `arg:"" optional:"" name:"NAME" help:"The sessions."`
}

// An exchangeRow is the outcome for one session.
type exchangeRow struct {
	Session string `json:"session" head:"NAME" show:"name" doc:"the name of the session"`
	Status  string `json:"status" head:"STATUS" doc:"what became of it, as the help of the command lists it"`
}

// printExchange prints the outcome for each session. It returns errNo if any failed. broke is the error with which the exchange
// ended early, or nil; then only the part before is printed.
func (o exchangeOption) printExchange(inv *invocation, results []transfer.Result, broke error) error {
	w := newResultWriter[exchangeRow](inv, o.JSON)
	w.table.head, w.aligned = nil, len(results)+1
	var failed error
	unsent := false
	for _, e := range results {
		rejected := e.Failed && e.Status != engine.Conflict
		if broke != nil && (rejected || e.Status == transfer.UpToDate) {
			continue
		}
		_ = w.add(exchangeRow{e.Name, e.Status})
		if e.Failed {
			failed = errNo
		}
		unsent = unsent || rejected
	}
	inv.reportPending()
	if unsent && !inv.out.tty { // on a terminal the lines are enough
		printError(inv.err, errors.New("some sessions were not exchanged; see the reason on the line of each"))
	}
	return errors.Join(w.end(), failed, broke)
}

// reportPending prints the saves in mounts that are not in their sessions yet, with the
// reasons. It reports whether there are any.
func (inv *invocation) reportPending() bool {
	for _, name := range slices.Sorted(maps.Keys(inv.opened.pending)) {
		printError(inv.err, inv.opened.pending[name])
	}
	return len(inv.opened.pending) > 0
}

// mentionConflicts prints how many conflicts each session has, to standard error.
func (inv *invocation) mentionConflicts(counts map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		inv.say("%s has %s; to resolve: git domarkx edit %s", name, describeConflicts(counts[name]), refname.Argument(name))
	}
}

func describeConflicts(n int) string {
	if n == 1 {
		return "1 conflict (a message or header in the texts of both sides)"
	}
	return fmt.Sprintf("%d conflicts (messages or headers in the texts of both sides)", n)
}

// mentionMerged prints how many conflicts a pull has left, to standard error.
func (inv *invocation) mentionMerged(sessions *engine.SessionManager, all []transfer.Result) error {
	list, err := sessions.List(inv.ctx)
	if list == nil {
		return err
	}
	list = slices.DeleteFunc(list, func(info domarkx.Info) bool {
		return !slices.ContainsFunc(all, func(e transfer.Result) bool { return e.Name == info.Name && e.Status == engine.Conflict })
	})
	counts, err := sessions.Conflicts(inv.ctx, list)
	inv.mentionConflicts(counts)
	return err
}

// gitProgress returns where progress is shown, or nil if none should be.
func (inv *invocation) gitProgress() io.Writer {
	if isTerminal(inv.err) && !inv.opts.Quiet && inv.opts.Progress {
		return inv.err
	}
	return nil
}

// mentionDrafts prints which of these sessions, or without names which of all sessions, have a save that could not become a
// snapshot. It ignores drafts that cannot be read, because fsck reports them.
func (inv *invocation) mentionDrafts(names ...string) {
	list, _ := drafts.ListBroken(mountd.DraftsDir(inv.opened.git))
	for _, d := range list {
		if len(names) == 0 || slices.Contains(names, d.Name) {
			inv.say("%s has a saved text that could not become a snapshot: %s\nCorrect it in the mount, or with: git domarkx edit %s", d.Name, d.Problem, refname.Argument(d.Name))
		}
	}
}
