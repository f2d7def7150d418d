package turns

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/journal"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/lock"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A RunRequest names the session to run.
type RunRequest struct {
	Name  string
	Retry bool // also run interrupted calls and a setup script that failed
	// Approve is how the user agrees to run something untrusted once.
	Approve trust.Consent
	// Report is called after each recorded call.
	Report func(CallResult)
}

// RunResult describes the calls of a run that did not succeed.
type RunResult struct {
	Failed int // number of calls that ended with an error
	// Interrupted lists calls of an earlier run that are not repeated automatically.
	Interrupted []CallResult
}

// Run makes all pending tool calls of a session's assistant and runs its pending named code blocks, in order. After each, it
// commits changes of the workspace and adds the result and the link to the message. A failing call does not stop the run.
// While another process is in the middle of a turn of the session, Run returns a [*lock.BusyError].
func (m *Manager) Run(ctx context.Context, r RunRequest) (RunResult, error) {
	if _, err := m.store.Tip(ctx, r.Name); err != nil {
		return RunResult{}, err
	}
	unlock, err := lock.Turn(ctx, m.env.StateDir, r.Name, "run")
	if err != nil {
		return RunResult{}, err
	}
	defer unlock()
	run := &runner{m: m, request: r, gate: m.trust.Gate(r.Approve), tried: map[callKey]bool{}, messages: map[string]domarkx.Message{}, stale: map[string]int{}}
	err = run.all(ctx)
	return run.ran, err
}

// A runner runs the calls of one session.
type runner struct {
	m        *Manager
	request  RunRequest
	gate     *trust.Gate
	bench    *openWorkspace // the workspace; nil until needed
	runs     func(language string) bool
	tried    map[callKey]bool
	messages map[string]domarkx.Message // blob → message, without the content of those that run nothing
	stale    map[string]int             // blob → index of the first call of a message to run again
	ran      RunResult
}

// A callKey identifies a call as long as its text does not change.
type callKey struct {
	message domarkx.ID
	index   int
	code    string
}

func keyOf(c journal.Call) callKey {
	return callKey{c.Message, c.Index, c.Block.Language + "\n" + c.Block.Name + "\n" + c.Block.Text}
}

func (r *runner) all(ctx context.Context) (err error) {
	info, err := r.m.store.Tip(ctx, r.request.Name)
	if err != nil {
		return err
	}
	if _, err := r.gate.Permit(ctx, trust.Session{Info: info}); err != nil {
		return err
	}
	needed, err := r.needsBench(ctx, info)
	if err != nil || !needed {
		return err
	}
	interrupted, err := r.m.interruptedIn(r.request.Name)
	if err != nil {
		return err
	}
	if r.bench, err = r.m.open(ctx, r.gate, trust.Session{Info: info}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.bench.close(ctx)) }()
	r.runs = r.bench.live.CanRun
	if err := r.reportInterrupted(ctx, interrupted); err != nil {
		return err
	}
	if err := r.bench.prepare(ctx, r.request.Name, r.request.Retry); err != nil {
		return err
	}
	for {
		if info, err = r.m.store.Tip(ctx, r.request.Name); err != nil {
			return err
		}
		by, err := r.gate.Permit(ctx, trust.Session{Info: info})
		if err != nil {
			return err
		}
		next, err := r.next(ctx, info)
		if err != nil || next == nil {
			return err
		}
		r.tried[keyOf(next.Call)] = true
		next.Completed = r.bench.complete(ctx, next.Block)
		report, err := r.bench.perform(ctx, *next, by)
		if report.OK || report.Code != "" {
			r.report(report)
		}
		if err != nil {
			return err
		}
	}
}

func (r *runner) report(c CallResult) {
	if !c.OK {
		r.ran.Failed++
	}
	if r.request.Report != nil {
		r.request.Report(c)
	}
}

// needsBench reports whether the run needs a live workspace. It creates nothing.
func (r *runner) needsBench(ctx context.Context, info domarkx.Info) (bool, error) {
	m := r.m
	workspace, err := m.sessions.WorkspaceOf(ctx, info.Name)
	if err != nil {
		return false, err
	}
	if begun, err := journal.In(m.env.StateDir).Of(workspace); err != nil || len(begun) > 0 {
		return err == nil, err
	}
	if i, err := m.env.Workspaces.Instance(ctx, workspace); err == nil && i.Loading != "" {
		return true, nil // the run continues the load or reports why it cannot
	} else if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
		return false, err
	}
	if _, err := os.Stat(m.setupFile(workspace)); err == nil && r.request.Retry {
		return true, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if r.runs, err = m.trust.Languages(ctx, info); err != nil {
		return false, err
	}
	next, err := r.next(ctx, info)
	if next != nil {
		r.ran.Interrupted = nil // the run looks for them again
	}
	return next != nil, err
}

// interruptedIn returns the calls of a session that started and were not recorded.
func (m *Manager) interruptedIn(session string) ([]journal.Call, error) {
	begun, err := journal.In(m.env.StateDir).List()
	return slices.DeleteFunc(begun, func(c journal.Call) bool { return c.Session != session || atomicfile.IsAlive(c.Process) }), err
}

// reportInterrupted reports the interrupted calls that opening the workspace recorded. Without
// Retry, this run does not repeat them.
func (r *runner) reportInterrupted(ctx context.Context, before []journal.Call) error {
	left, err := r.m.interruptedIn(r.request.Name)
	if err != nil {
		return err
	}
	for _, c := range before {
		if slices.ContainsFunc(left, func(l journal.Call) bool { return keyOf(l) == keyOf(c) }) {
			continue // in another workspace
		}
		if r.request.Retry && !c.Appends {
			continue // reported when it is repeated
		}
		info, err := r.m.store.Tip(ctx, r.request.Name)
		if err != nil {
			return err
		}
		k, err := r.m.placeOf(ctx, info, c.Message)
		if err != nil {
			return err
		}
		r.report(CallResult{Message: k, Index: c.Index, Resource: c.Resource, Tool: c.Tool, Outcome: toolcall.Interrupted(c.Session), WorkspaceVersion: r.bench.tip.ID})
	}
	return nil
}

// placeOf returns the index of a message, or that of the last message if it was removed.
func (m *Manager) placeOf(ctx context.Context, info domarkx.Info, id domarkx.ID) (int, error) {
	state, err := m.store.Load(ctx, info.ID)
	if err != nil {
		return 0, err
	}
	k := slices.IndexFunc(state.Thread.Live, func(e domarkx.Entry) bool { return e.ID == id })
	if k < 0 {
		k = len(state.Thread.Live) - 1
	}
	return k, nil
}
