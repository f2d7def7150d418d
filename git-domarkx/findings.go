package main

import (
	"cmp"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore"
)

// The severities of findings.
const (
	severityError   = "error"
	severityWarning = "warning"
	severityInfo    = "info"
)

// printFindings prints what fsck, doctor or gc found, the worst first; an error
// among it ends the command with the answer no.
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

func writeFindings(inv *invocation, found []engine.Finding, asJSON bool) error {
	if asJSON {
		return writeJSON(inv.out, found, func(f engine.Finding) []domarkx.Member {
			return []domarkx.Member{jsonText("severity", f.Severity), jsonText("what", f.What), jsonText("where", f.Where), jsonText("fix", f.Fix)}
		})
	}
	t := newTable("SEVERITY", "WHAT", "WHERE", "FIX")
	for _, f := range found {
		t.add(text(f.Severity), text(f.What), text(f.Where), text(f.Fix))
	}
	return t.write(inv)
}

func findings(found []gitstore.Finding) []engine.Finding {
	list := make([]engine.Finding, len(found))
	for i, f := range found {
		list[i] = engine.Finding(f)
	}
	return list
}
