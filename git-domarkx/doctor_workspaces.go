package main

// workspaces reports calls that were interrupted, and what is left of workspaces.
func (d *doctor) workspaces() {
	sessions, err := d.inv.sessions()
	if err != nil {
		return // the check of the repository says so
	}
	found, err := sessions.WorkspaceFindings(d.inv.ctx)
	if err != nil {
		d.find(severityError, err.Error(), "workspaces", "")
	}
	d.found = append(d.found, found...)
}
