package main

import (
	"cmp"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// The severities of findings.
const (
	severityError   = "error"
	severityWarning = "warning"
	severityInfo    = "info"
)

// printFindings prints the findings of fsck, doctor or gc, most severe first. It returns
// errNo if any has severity error.
func printFindings(inv *invocation, found []engine.Finding, asJSON bool) error {
	rank := []string{severityError, severityWarning, severityInfo}
	slices.SortStableFunc(found, func(a, b engine.Finding) int {
		return cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity))
	})
	if err := writeFindings(inv, found, asJSON); err != nil {
		return err
	}
	if slices.ContainsFunc(found, func(f engine.Finding) bool { return f.Severity == severityError }) {
		return errNo
	}
	return nil
}

// findingOption holds the options of fsck, doctor and gc.
type findingOption struct{ jsonOption }

func (findingOption) row() any { return []findingRow{} }

type findingRow struct {
	Severity string `json:"severity" head:"SEVERITY" doc:"error, warning or info"`
	What     string `json:"what" head:"WHAT" show:"wrap" doc:"what was found"`
	Where    string `json:"where" head:"WHERE" show:"name" doc:"the session, workspace, file or setting that it is about"`
	Fix      string `json:"fix" head:"FIX" show:"wrap" doc:"what to do"`
}

func writeFindings(inv *invocation, found []engine.Finding, asJSON bool) error {
	rows := make([]findingRow, len(found))
	for i, f := range found {
		rows[i] = findingRow(f)
	}
	return printResults(inv, asJSON, rows)
}

func findings(found []snapshot.Finding) []engine.Finding {
	list := make([]engine.Finding, len(found))
	for i, f := range found {
		list[i] = engine.Finding(f)
	}
	return list
}
