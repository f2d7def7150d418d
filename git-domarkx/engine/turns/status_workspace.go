package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/journal"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/limit"
)

// The states of workspaces that are reported to the user.
const (
	StateLive        = "live"        // its resources exist on this machine
	StateDirty       = "dirty"       // its resources have uncommitted changes
	StateOutdated    = "outdated"    // a newer version exists; the next call loads it
	StateBusy        = "busy"        // another process uses it
	StateUntrusted   = "untrusted"   // the session must be trusted before it runs
	StateInterrupted = "interrupted" // the program was killed during a call that is not recorded yet
	StateSetup       = "setup"       // the setup script failed
	StateLoading     = "loading"     // a version was loaded only in part
)

// A WorkspaceState is one state of a workspace or of its session.
type WorkspaceState struct {
	State  string
	Name   string // name of the workspace or the session
	Detail string
}

// WorkspaceStates returns which workspaces are live, changed, untrusted or interrupted. It runs nothing.
func (m *Manager) WorkspaceStates(ctx context.Context) ([]WorkspaceState, error) {
	states, err := m.instanceStates(ctx)
	if err != nil {
		return nil, err
	}
	begun, err := journal.In(m.env.StateDir).List()
	if err != nil {
		return nil, err
	}
	for _, c := range begun {
		if !atomicfile.IsAlive(c.Process) {
			states = append(states, WorkspaceState{StateInterrupted, c.Session, c.String()})
		}
	}
	untrusted, err := m.untrusted(ctx)
	return append(states, untrusted...), err
}

func (m *Manager) instanceStates(ctx context.Context) ([]WorkspaceState, error) {
	instances, err := m.env.Workspaces.Instances(ctx)
	if err != nil {
		return nil, err
	}
	var states []WorkspaceState
	for _, i := range instances {
		state, err := m.instanceState(ctx, i)
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, r := range i.Resources {
			ids = append(ids, r.ID)
		}
		states = append(states, WorkspaceState{state, i.Name, strings.Join(ids, ", ")})
		if state == StateBusy { // another process is still working on it
			continue
		}
		if i.Loading != "" {
			states = append(states, WorkspaceState{StateLoading, i.Name, fmt.Sprintf("version %.12s was loaded only in part; the next call goes on with it, and git domarkx rewind leads to another", i.Loading)})
		}
		if _, err := os.Stat(m.setupFile(i.Name)); err == nil {
			states = append(states, WorkspaceState{StateSetup, i.Name, "the setup script did not end well; git domarkx run --retry runs it again"})
		}
	}
	return states, nil
}

// instanceState determines the state of an instance from its directories.
func (m *Manager) instanceState(ctx context.Context, i plugins.Instance) (string, error) {
	if i.Interrupted || i.Head == "" {
		if busy, err := m.env.Workspaces.InUse(ctx, i.Name); err == nil && busy {
			return StateBusy, nil
		}
	}
	switch {
	case i.Interrupted:
		return StateDirty, nil
	case i.Head == "":
		return StateLive, nil
	}
	tip, err := m.store.WorkspaceTipOrNone(ctx, i.Name)
	if err != nil {
		return "", err
	}
	b, err := m.openPresent(ctx, i.Name, true, plugins.Options{NoWait: true, Keep: m.keeper(i.Name)})
	switch {
	case errors.Is(err, domarkx.ErrConflict):
		return StateBusy, nil
	case ctx.Err() != nil:
		return "", err
	case err != nil: // the next call reports why
		return StateLive, nil
	}
	changed, err := b.live.Differs(ctx)
	if err := errors.Join(err, b.close(ctx)); err != nil {
		return "", err
	}
	head, err := m.sessions.InPlaceOf(ctx, i.Head, tip.ID, m.store.IsEarlier)
	switch {
	case err != nil:
		return "", err
	case changed:
		return StateDirty, nil
	case tip.ID != "" && tip.ID != head:
		return StateOutdated, nil
	}
	return StateLive, nil
}

// untrusted returns the untrusted sessions that ask for resources, and those that run something
// in the resources that the repository shares.
func (m *Manager) untrusted(ctx context.Context) ([]WorkspaceState, error) {
	list, listed := m.store.List(ctx)
	if list == nil {
		return nil, listed
	}
	shared, err := project.Read(m.env.WorkTree)
	lists := err == nil && shared.Resources != nil
	var states []WorkspaceState
	for _, info := range list {
		h, err := view.Header(ctx, m.store, info.ID)
		if err != nil {
			continue
		}
		asks := !trust.HeaderDigest(h, nil).Empty()
		if !asks && lists {
			asks, err = m.runsInShared(ctx, info, h)
		}
		if err != nil {
			return nil, err
		}
		if !asks {
			continue
		}
		held, err := m.trust.IsTrusted(ctx, info)
		if err != nil {
			return nil, err
		}
		if !held {
			states = append(states, WorkspaceState{StateUntrusted, info.Name, "git domarkx trust " + refname.Argument(info.Name) + " shows what it runs, and trusts it"})
		}
	}
	return states, nil
}

// runsInShared reports whether a session runs something in the resources of .domarkx.toml. It
// returns false for a plain conversation, even though calls could be added to it.
func (m *Manager) runsInShared(ctx context.Context, info domarkx.Info, h domarkx.Header) (bool, error) {
	added, err := m.trust.AddedTo(ctx, info.Name, h)
	if err != nil || added == nil || added.Where != project.File {
		return false, err
	}
	d, err := m.trust.Digest(ctx, info)
	return d != trust.HeaderDigest(h, added), err
}

// WorkspaceFindings returns the calls and instances that need attention, for doctor.
func (m *Manager) WorkspaceFindings(ctx context.Context) ([]engine.Finding, error) {
	states, err := m.WorkspaceStates(ctx)
	if err != nil {
		return nil, err
	}
	var found []engine.Finding
	for _, s := range states {
		half := func(of WorkspaceState) bool { return of.State == StateLoading && of.Name == s.Name }
		if s.State == StateDirty && slices.ContainsFunc(states, half) {
			continue
		}
		f, name := engine.Finding{Severity: "warning", Where: s.Name}, refname.Argument(s.Name)
		switch s.State {
		case StateLoading:
			f.What = "the workspace is neither what it was nor what it was to be: " + s.Detail
			f.Fix = "git domarkx run " + name + " goes on, or says what is in the way; git domarkx rewind " + refname.Argument(s.Name+"#K") + " leads to another version"
		case StateInterrupted:
			f.What, f.Fix = "the program was killed during a call: "+s.Detail, "git domarkx run "+name+" records that; with --retry it makes the call again"
		case StateSetup:
			f.What, f.Fix = "the setup script did not end well", "git domarkx run --retry "+name
		case StateOutdated:
			f.Severity, f.What, f.Fix = "info", "the workspace has a newer version than its resources", "the next call brings them there, and so does git domarkx rewind"
		case StateDirty:
			f.Severity, f.What, f.Fix = "info", "the workspace has changes that are in no version", "the next call commits them, and so does git domarkx rewind"
		default:
			continue
		}
		found = append(found, f)
	}
	large, err := m.leftOut(ctx)
	if err != nil {
		return nil, err
	}
	orphans, err := m.orphans(ctx)
	return slices.Concat(found, large, orphans, m.Left(ctx, false)), err
}

// leftOut returns findings for what the newest versions leave out because of a limit. Of work trees that are only observed,
// whose versions many sessions have, it looks at the newest one.
func (m *Manager) leftOut(ctx context.Context) ([]engine.Finding, error) {
	tips, err := m.store.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	observed := func(o *domarkx.Observation) bool {
		return o != nil && (o.Head != "" || o.Branch != "" || len(o.Calls) > 0)
	}
	var newest domarkx.Version
	for _, v := range tips {
		if observed(v.Observed) && v.Date >= newest.Date {
			newest = v
		}
	}
	var found []engine.Finding
	for _, v := range tips {
		o := v.Observed
		if o == nil || observed(o) && v.ID != newest.ID {
			continue
		}
		over := false
		for _, f := range o.LeftOut {
			if l, ok := limit.OfReason(f.Reason); ok {
				over = true
				found = append(found, engine.Finding{Severity: "info", What: fmt.Sprintf("the newest version does not contain %s: %s", strconv.Quote(f.Path), f.Reason), Where: v.Workspace,
					Fix: "git config " + l.Key + " N, or remove it"})
			}
		}
		if over && o.More > 0 {
			found = append(found, engine.Finding{Severity: "info", What: fmt.Sprintf("the newest version does not contain %d more files", o.More), Where: v.Workspace})
		}
	}
	return found, nil
}

// orphans returns findings for the instances of workspaces that no longer exist.
func (m *Manager) orphans(ctx context.Context) ([]engine.Finding, error) {
	instances, err := m.env.Workspaces.Instances(ctx)
	if err != nil {
		return nil, err
	}
	var found []engine.Finding
	for _, i := range instances {
		_, session := m.store.Tip(ctx, i.Name)
		_, workspace := m.store.WorkspaceTip(ctx, i.Name)
		if errors.Is(session, domarkx.ErrNotFound) && errors.Is(workspace, domarkx.ErrNotFound) {
			found = append(found, engine.Finding{Severity: "warning", What: "resources are left of a workspace that is no more", Where: i.Name,
				Fix: "git domarkx workspace rm " + refname.Argument(i.Name)})
		}
	}
	return found, nil
}

// Left returns findings about the leftovers of removed resources, such as containers, and removes these if remove is set.
func (m *Manager) Left(ctx context.Context, remove bool) []engine.Finding {
	leftovers, err := m.env.Workspaces.Leftovers(ctx)
	var found []engine.Finding
	for _, o := range leftovers {
		f := engine.Finding{Severity: "warning", What: o.What + " was left of a resource of type " + o.Type + " that is gone", Where: cmp.Or(o.Workspace, o.Dir)}
		if o.Resource != "" {
			f.What = o.What + " was left of resource " + o.Resource + " that is gone"
		}
		if !remove {
			f.Fix = "git domarkx gc removes it"
		} else if err := m.env.Workspaces.RemoveLeftover(ctx, o); err != nil {
			f.What += ", and cannot be removed: " + err.Error()
		} else {
			f.Severity, f.What = "info", f.What+" and was removed"
		}
		found = append(found, f)
	}
	if err != nil {
		found = append(found, engine.Finding{Severity: "warning", What: err.Error(), Where: "workspaces"})
	}
	return found
}
