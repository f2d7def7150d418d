package main

import (
	"cmp"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine"
)

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
