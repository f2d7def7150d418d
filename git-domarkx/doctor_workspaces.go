package main

import "github.com/domarkx/domarkx/git-domarkx/engine/trust"

// workspaces reports interrupted calls and leftover files of workspaces.
func (d *doctor) workspaces() {
	opened, err := d.inv.open()
	if err != nil {
		return // reported by the check of the repository
	}
	if err := opened.trust.CheckProject(d.inv.ctx); err != nil {
		d.find(severityWarning, "sessions that use it are not run or trusted: "+err.Error(), trust.ProjectFile, "correct the file; git domarkx help trust lists its keys")
	}
	found, err := opened.turns.WorkspaceFindings(d.inv.ctx)
	if err != nil {
		d.find(severityError, err.Error(), "workspaces", "")
	}
	d.found = append(d.found, found...)
}
