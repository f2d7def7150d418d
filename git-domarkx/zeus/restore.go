package zeus

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
)

// The policies for agents that already run.
const (
	IfRunningError   = "error"   // restore nothing
	IfRunningSkip    = "skip"    // leave them running
	IfRunningReplace = "replace" // close them first
)

// The policies for the sway workspaces of windows.
const (
	WorkspaceOriginal = "original" // the workspace in the snapshot
	WorkspaceCurrent  = "current"  // the workspace the user is on
)

// A RestoreRequest selects the agents to restore, and the policies.
type RestoreRequest struct {
	Entries    []Entry
	Workspace  string // WorkspaceOriginal or WorkspaceCurrent
	IfRunning  string // IfRunningError, IfRunningSkip or IfRunningReplace
	SessionDir string // directory for missing session files; "" for their original paths
	// Kept opens a session file stored with the snapshot, given its SHA-256. Nil means
	// that none is stored.
	Kept func(ctx context.Context, digest string) (domarkx.Content, error)
}

// A ConflictError means that nothing was restored because some agents already run.
type ConflictError struct{ IDs []string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("nothing was restored: these agents run already: %s; leave them with --if-running skip, or close them first with --if-running replace",
		strings.Join(e.IDs, ", "))
}

// A restoring is the state of a running Restore.
type restoring struct {
	*Terminals
	RestoreRequest
	live     Live
	ids      map[string]bool // of running agents
	names    map[string]bool // of tmux sessions
	replaced map[string]bool

	mu       sync.Mutex
	warnings []error
}

// Restore starts the agents of a snapshot and returns a row for each entry. With
// [IfRunningError], it returns a [*ConflictError] before it starts anything if an agent
// already runs. An error about one entry is in that entry's row. Warnings are about
// incomplete steps that did not prevent a restore.
func (t *Terminals) Restore(ctx context.Context, request RestoreRequest) (rows []Row, warnings []error, err error) {
	live, err := t.Discover(ctx)
	if err != nil {
		return nil, nil, err
	}
	r := &restoring{Terminals: t, RestoreRequest: request, live: live, ids: map[string]bool{}, names: map[string]bool{}, replaced: map[string]bool{},
		warnings: live.Warnings}
	for _, w := range live.windows {
		r.ids[w.Env.ID] = true
	}
	for _, s := range live.sessions {
		r.ids[s.ownID()], r.names[s.name] = true, true
	}
	delete(r.ids, "")
	rows = make([]Row, len(r.Entries))
	for i, e := range r.Entries {
		rows[i] = Row{ID: e.ID, Kind: e.Kind}
	}
	if err := r.conflict(rows); err != nil {
		return rows, r.warnings, err
	}
	var waiting sync.WaitGroup
	for i, e := range r.Entries {
		if ctx.Err() != nil {
			rows[i].Status, rows[i].Detail = Skipped, "not started, because the command was ended"
			continue
		}
		later := r.one(ctx, e, &rows[i])
		if later != nil {
			waiting.Go(func() { later() })
		}
	}
	waiting.Wait()
	return rows, r.warnings, context.Cause(ctx)
}

// conflict returns a ConflictError and fills the rows if agents already run and the
// policy forbids that.
func (r *restoring) conflict(rows []Row) error {
	if r.IfRunning != IfRunningError {
		return nil
	}
	var running []string
	for _, e := range r.Entries {
		if r.ids[e.ID] {
			running = append(running, e.ID)
		}
	}
	if running == nil {
		return nil
	}
	for i := range rows {
		if rows[i].Status, rows[i].Detail = Skipped, "not started, because others run already"; r.ids[rows[i].ID] {
			rows[i].Status, rows[i].Detail = Failed, "runs already"
		}
	}
	slices.Sort(running)
	return &ConflictError{slices.Compact(running)}
}

// one restores an entry and fills its row. If the outcome is not yet known, it returns a
// function that waits for it and updates the row.
func (r *restoring) one(ctx context.Context, e Entry, row *Row) (later func()) {
	status, detail, wait := r.start(ctx, e)
	if row.Status, row.Detail = status, detail; status == Restored {
		r.ids[e.ID] = true
		if e.Kind != zeusformat.Kitty {
			r.names[e.Session] = true
		}
	}
	if wait == nil {
		return nil
	}
	return func() {
		warning, err := wait()
		if err != nil {
			row.Status, row.Detail = Failed, err.Error()
		}
		if warning != nil {
			r.warn(fmt.Errorf("%s: %w", e.Name, warning))
		}
	}
}

func (r *restoring) warn(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = append(r.warnings, err)
}

// start starts the agent of an entry and describes where, or why it did not. If wait is not
// nil, it waits for the final outcome.
func (r *restoring) start(ctx context.Context, e Entry) (status Status, detail string, wait func() (warning, err error)) {
	running := r.ids[e.ID]
	inTmux := e.Kind != zeusformat.Kitty
	taken := inTmux && r.names[e.Session]
	replace := r.IfRunning == IfRunningReplace
	switch detail = fmt.Sprintf("there is a tmux session %q already", e.Session); {
	case running && r.IfRunning == IfRunningSkip:
		return Skipped, "runs already", nil
	case taken && r.IfRunning == IfRunningSkip:
		return Skipped, detail, nil
	case taken && !replace:
		return Failed, detail, nil
	}
	if err := e.check(); err != nil {
		return Failed, err.Error(), nil
	}
	// Check that everything the agent needs exists before closing anything.
	missing := ""
	if !isDirectory(e.Directory) {
		missing, e.Directory = e.Directory, r.Getenv("HOME")
		if !isDirectory(e.Directory) {
			return Failed, fmt.Sprintf("its directory %q does not exist, and neither does the home directory %q", missing, e.Directory), nil
		}
	}
	path, err := r.session(ctx, e)
	if err != nil {
		return Failed, err.Error(), nil
	}
	defer func() {
		if missing != "" && status == Restored {
			r.warn(fmt.Errorf("%s: its directory %q does not exist; it was started in %q", e.Name, missing, e.Directory))
		}
	}()
	if running && replace && !r.replaced[e.ID] {
		r.closeAll(ctx, e.ID)
	}
	if inTmux && r.names[e.Session] {
		if err := r.replaceSession(ctx, e.Session); err != nil {
			return Failed, err.Error(), nil
		}
	}
	workspace := ""
	if r.Workspace == WorkspaceOriginal && e.Workspace != noWorkspace {
		workspace = e.Workspace
	}
	if detail = "in a kitty window"; inTmux {
		detail, err = fmt.Sprintf("in the tmux session %q", e.Session), r.startInTmux(ctx, e, path)
	} else {
		wait, err = r.startInKitty(ctx, e, path, workspace)
	}
	if err != nil {
		return Failed, err.Error(), nil
	}
	return Restored, detail, wait
}

// closeAll closes every window and tmux session of a running agent.
func (r *restoring) closeAll(ctx context.Context, id string) {
	r.replaced[id] = true
	for _, w := range r.live.windows {
		if w.Env.ID == id {
			if err := r.closeWindow(ctx, w); err != nil {
				r.warn(err)
			}
		}
	}
	for _, s := range r.live.sessions {
		if s.ownID() != id {
			continue
		}
		if err := r.killSession(ctx, s); err != nil {
			r.warn(err)
			continue
		}
		delete(r.names, s.name)
	}
	delete(r.ids, id)
}

// replaceSession ends the tmux session that has the name an agent needs.
func (r *restoring) replaceSession(ctx context.Context, name string) error {
	sessions, err := r.tmuxSessions(ctx)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if s.name == name {
			if err := r.killSession(ctx, s); err != nil {
				return err
			}
		}
	}
	delete(r.names, name)
	return nil
}

// session returns the path of the session file for an agent. If the file is missing, it
// is written from the copy in the snapshot.
func (r *restoring) session(ctx context.Context, e Entry) (string, error) {
	path := r.expand(e.Path)
	if path == "" {
		return "", fmt.Errorf("the path of its session, %q, is not absolute", e.Path)
	}
	if isFile(path) {
		return path, nil
	}
	missing := fmt.Errorf("the file of its session is missing: %s", path)
	if e.Digest == "" || r.Kept == nil {
		return "", missing
	}
	content, err := r.Kept(ctx, e.Digest)
	if err != nil {
		return "", fmt.Errorf("%w; it cannot be written: %w", missing, err)
	}
	defer content.Close()
	if r.SessionDir != "" {
		return writeInto(r.SessionDir, path, e.Digest, content)
	}
	if err := writeSession(path, reader(content)); err != nil {
		return "", fmt.Errorf("%w; it cannot be written there: %w; write it elsewhere with --session-dir", missing, err)
	}
	return path, nil
}
