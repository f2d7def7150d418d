package main

import "github.com/domarkx/domarkx/git-domarkx/engine"

// workspaces reports interrupted calls and leftover files of workspaces.
func (d *doctor) workspaces() {
	sessions, err := d.inv.sessions()
	if err != nil {
		return // reported by the check of the repository
	}
	if err := sessions.CheckProject(d.inv.ctx); err != nil {
		d.find(severityWarning, "sessions that use it are not run or trusted: "+err.Error(), engine.ProjectFile, "correct the file; git domarkx help trust lists its keys")
	}
	found, err := sessions.WorkspaceFindings(d.inv.ctx)
	if err != nil {
		d.find(severityError, err.Error(), "workspaces", "")
	}
	d.found = append(d.found, found...)
}
