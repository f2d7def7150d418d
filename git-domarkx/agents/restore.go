package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/zeus"
)

// The policies for agents that run already.
const (
	IfRunningError   = "error"   // restore nothing
	IfRunningSkip    = "skip"    // leave them as they are
	IfRunningReplace = "replace" // close them first
)

// The policies for the workspaces of windows.
const (
	WorkspaceOriginal = "original" // where they were
	WorkspaceCurrent  = "current"  // where the user is
)

// A RestoreRequest says what to restore, and how.
type RestoreRequest struct {
	Entries    []Entry
	Workspace  string // WorkspaceOriginal or WorkspaceCurrent
	IfRunning  string // IfRunningError, IfRunningSkip or IfRunningReplace
	SessionDir string // where sessions that are missing are written; "" for their own place
	// Kept opens a session that was kept with the snapshot, by its SHA-256; nil when none was.
	Kept func(ctx context.Context, digest string) (domarkx.Content, error)
}

// A ConflictError says that nothing was restored, because agents run already.
type ConflictError struct{ IDs []string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("nothing was restored: these agents run already: %s; leave them with --if-running skip, or close them first with --if-running replace",
		strings.Join(e.IDs, ", "))
}

// A restoring is a request under way.
type restoring struct {
	*Desk
	RestoreRequest
	live     Live
	ids      map[string]bool // of agents that run
	names    map[string]bool // of tmux's sessions
	replaced map[string]bool

	mu       sync.Mutex
	warnings []error
}

// Restore starts the agents of a snapshot. Each entry has a row. With
// [IfRunningError], a [*ConflictError] comes before anything is started. Other errors
// are about single entries, in their rows; what could not be done besides is a
// warning.
func (d *Desk) Restore(ctx context.Context, request RestoreRequest) (rows []Row, warnings []error, err error) {
	live, err := d.Discover(ctx)
	if err != nil {
		return nil, nil, err
	}
	r := &restoring{Desk: d, RestoreRequest: request, live: live, ids: map[string]bool{}, names: map[string]bool{}, replaced: map[string]bool{},
		warnings: live.Warnings}
	for _, w := range live.windows {
		r.ids[strings.TrimSpace(w.env.ID)] = true
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

// conflict fills the rows when agents run already and that is an error.
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

// one restores an entry and fills its row; what is returned, unless nil, does so
// later.
func (r *restoring) one(ctx context.Context, e Entry, row *Row) (later func()) {
	set := func(status Status, detail string) { row.Status, row.Detail = status, detail }
	detail, wait, err := r.start(ctx, e)
	var skipped *skippedError
	switch {
	case errors.As(err, &skipped):
		set(Skipped, skipped.reason)
	case err != nil:
		set(Failed, err.Error())
	default:
		r.ids[e.ID] = true
		if e.Kind != zeus.Kitty {
			r.names[e.Session] = true
		}
		set(Restored, detail)
	}
	if wait == nil {
		return nil
	}
	return func() {
		warning, err := wait()
		if err != nil {
			set(Failed, err.Error())
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

// A skippedError says why an entry was left alone.
type skippedError struct{ reason string }

func (e *skippedError) Error() string { return e.reason }

// start starts the agent of an entry and says where.
func (r *restoring) start(ctx context.Context, e Entry) (detail string, wait func() (warning, err error), err error) {
	running := r.ids[e.ID]
	if running && r.IfRunning == IfRunningSkip {
		return "", nil, &skippedError{"runs already"}
	}
	inTmux := e.Kind != zeus.Kitty
	taken := inTmux && r.names[e.Session]
	replace := r.IfRunning == IfRunningReplace
	switch {
	case taken && r.IfRunning == IfRunningSkip:
		return "", nil, &skippedError{fmt.Sprintf("there is a tmux session %q already", e.Session)}
	case taken && !replace:
		return "", nil, fmt.Errorf("there is a tmux session %q already", e.Session)
	}
	if err := e.check(); err != nil {
		return "", nil, err
	}
	// Nothing is closed before everything that the agent needs is known to exist.
	missing := ""
	if !isFolder(e.Folder) {
		missing, e.Folder = e.Folder, r.Getenv("HOME")
		if !isFolder(e.Folder) {
			return "", nil, fmt.Errorf("its folder %q does not exist, and neither does the home folder %q", missing, e.Folder)
		}
	}
	path, err := r.session(ctx, e)
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if missing != "" && err == nil {
			r.warn(fmt.Errorf("%s: its folder %q does not exist; it was started in %q", e.Name, missing, e.Folder))
		}
	}()
	if running && replace && !r.replaced[e.ID] {
		r.closeAll(ctx, e.ID)
	}
	if inTmux && r.names[e.Session] {
		if err := r.replaceSession(ctx, e.Session); err != nil {
			return "", nil, err
		}
	}
	if inTmux {
		return fmt.Sprintf("in the tmux session %q", e.Session), nil, r.startInTmux(ctx, e, path)
	}
	workspace, detail := "", "in a kitty window"
	if r.Workspace == WorkspaceOriginal && e.Workspace != noWorkspace {
		workspace = e.Workspace
	}
	wait, err = r.startInKitty(ctx, e, path, workspace)
	return detail, wait, err
}

// closeAll closes every window and tmux session of an agent that runs.
func (r *restoring) closeAll(ctx context.Context, id string) {
	r.replaced[id] = true
	for _, w := range r.live.windows {
		if strings.TrimSpace(w.env.ID) == id {
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

// replaceSession ends the session of tmux that has a name which an agent is to have.
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

// session returns the path of the session that an agent is to go on with. One that is
// missing is written from what was kept.
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
