package main

import (
	"cmp"
	"slices"

	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
	"github.com/domarkx/domarkx/gitstore/refname"
)

type fsckCmd struct {
	findingOption
}

func (c *fsckCmd) Run(inv *invocation, opened managers) error {
	progress := inv.progress()
	found, err := opened.store.Fsck(inv.ctx, func(done, total int) { progress.report("checking sessions", int64(done), int64(total)) })
	if err != nil {
		return err
	}
	list, err := opened.store.List(inv.ctx)
	if list == nil && err != nil { // Fsck has already reported the unreadable sessions
		return err
	}
	for i, info := range list {
		progress.report("rendering sessions", int64(i), int64(len(list)))
		rendered, err := opened.sessions.CheckSnapshot(inv.ctx, info)
		if err == nil && len(rendered) > 0 {
			// git gc may have moved the missing objects meanwhile: reopen the store and check again.
			if err = opened.store.Refresh(); err == nil {
				rendered, err = opened.sessions.CheckSnapshot(inv.ctx, info)
			}
		}
		if err != nil {
			return err
		}
		found = append(found, rendered...)
	}
	progress.finish()
	found = append(found, inv.draftFindings()...)
	if len(found) == 0 && !c.JSON {
		inv.allIsWell("fsck: " + counted(len(list), "session") + ", no problems")
	}
	return c.printFindings(inv, found)
}

// draftFindings reports the saves that did not become snapshots, and the drafts that cannot be read.
func (inv *invocation) draftFindings() []engine.Finding {
	git, err := inv.git()
	if err != nil {
		return nil
	}
	var found []engine.Finding
	list, err := drafts.ListBroken(mountd.DraftsDir(git))
	if err != nil {
		found = append(found, engine.Finding{Severity: severityError, What: err.Error(), Where: mountd.DraftsDir(git),
			Fix: "copy what you need out of the file, and remove it"})
	}
	for _, d := range list {
		found = append(found, engine.Finding{Severity: severityInfo, What: "a save that is not in the session: " + d.Problem,
			Where: d.Name, Fix: "git domarkx edit " + refname.Argument(d.Name)})
	}
	return found
}

// The severities of findings.
const (
	severityError   = "error"
	severityWarning = "warning"
	severityInfo    = "info"
)

// printFindings prints findings, most severe first. It returns errNo if any has severity error.
func (o findingOption) printFindings(inv *invocation, found []engine.Finding) error {
	rank := []string{severityError, severityWarning, severityInfo}
	slices.SortStableFunc(found, func(a, b engine.Finding) int {
		return cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity))
	})
	if err := o.write(inv, found); err != nil {
		return err
	}
	if slices.ContainsFunc(found, func(f engine.Finding) bool { return f.Severity == severityError }) {
		return errNo
	}
	return nil
}

// findingOption holds the options of fsck, doctor and gc.
type findingOption struct{ rowsOption[findingRow] }

type findingRow struct {
	Severity string `json:"severity" head:"SEVERITY" doc:"error, warning or info"`
	What     string `json:"what" head:"WHAT" show:"wrap" doc:"what was found"`
	Where    string `json:"where" head:"WHERE" show:"name" doc:"the session, workspace, file or setting that it is about"`
	Fix      string `json:"fix" head:"FIX" show:"wrap" doc:"what to do"`
}

func (o findingOption) write(inv *invocation, found []engine.Finding) error {
	return o.print(inv, mapped(found, func(f engine.Finding) findingRow { return findingRow(f) }))
}
