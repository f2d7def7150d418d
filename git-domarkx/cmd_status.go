package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
)

type statusCmd struct{ rowsOption[statusRow] }

func (c *statusCmd) prepare(inv *invocation) error {
	inv.patience = mountd.ReportPatience
	return nil
}

func (c *statusCmd) Run(inv *invocation, opened managers) error {
	list, unread := opened.sessions.ListAbout(inv.ctx)
	if list == nil && unread != nil {
		return unread
	}
	active := make(map[string]int64, len(list))
	for _, info := range list {
		active[info.Name] = info.Described().Active
	}
	s := statusSources{inv, opened, list}
	var rows []statusRow
	for _, source := range []struct {
		read     func() ([]statusRow, error)
		sessions bool // the newest activity comes first
	}{
		{s.mounts, false}, {s.watcher, false}, {s.pending, true}, {s.drafts, true}, {s.files, false}, {s.conflicts, true}, {s.divergences, true},
		{s.workspaces, false}, {s.settings, false},
	} {
		found, err := source.read()
		if err != nil {
			return err
		}
		if source.sessions {
			for i := range found {
				found[i].Active = timeField(active[found[i].Name])
			}
			slices.SortStableFunc(found, func(a, b statusRow) int { return cmp.Compare(b.Active, a.Active) })
		}
		rows = append(rows, found...)
	}
	if len(rows) == 0 && unread == nil {
		inv.allIsWell("status: nothing needs attention")
	}
	return c.printAll(inv, rows, unread)
}

// statusSources are where the rows of "status" come from.
type statusSources struct {
	inv    *invocation
	opened managers
	list   []domarkx.Info
}

func (s statusSources) mounts() ([]statusRow, error) {
	mounts, err := s.inv.listMounts()
	return mapped(mounts, func(m mountd.Mount) statusRow {
		return statusRow{What: "mount", Name: m.Dir, Detail: m.Describe(s.inv.ctx)}
	}), err
}

func (s statusSources) watcher() ([]statusRow, error) {
	running, ok := recording.Running(recording.Dir(s.opened.git.CommonDir))
	if !ok {
		return nil, nil
	}
	return []statusRow{{What: "watch", Name: fmt.Sprintf("process %d", running.PID), Detail: "records agents since " + running.Since.Format(time.RFC3339)}}, nil
}

func (s statusSources) pending() ([]statusRow, error) {
	return mapped(slices.Sorted(maps.Keys(s.opened.pending)), func(name string) statusRow {
		return statusRow{What: engine.Pending, Name: name, Detail: s.opened.pending[name].Reason}
	}), nil
}

func (s statusSources) drafts() ([]statusRow, error) {
	unsaved, err := s.opened.sessions.Drafts()
	return mapped(unsaved, func(d drafts.Draft) statusRow { return statusRow{What: "draft", Name: d.Name, Detail: d.Problem} }), err
}

func (s statusSources) files() ([]statusRow, error) {
	files, err := drafts.ListBeside(mountd.DraftsDir(s.opened.git))
	return mapped(files, func(path string) statusRow {
		return statusRow{What: "file", Name: path, Detail: "is in no session; a mount shows it in sessions/"}
	}), err
}

func (s statusSources) conflicts() ([]statusRow, error) {
	conflicts, err := s.opened.sessions.Conflicts(s.inv.ctx, s.list)
	return mapped(slices.Sorted(maps.Keys(conflicts)), func(name string) statusRow {
		return statusRow{What: engine.Conflict, Name: name, Detail: describeConflicts(conflicts[name])}
	}), err
}

func (s statusSources) divergences() (rows []statusRow, err error) {
	remotes, err := s.inv.remotes()
	if err != nil {
		return nil, err
	}
	differing, err := s.opened.remotes.Divergences(s.inv.ctx, remotes)
	return mapped(differing, func(d transfer.Divergence) statusRow { return statusRow{What: d.State, Name: d.Name, Detail: d.Remote} }), err
}

func (s statusSources) workspaces() ([]statusRow, error) {
	workspaces, err := s.opened.turns.WorkspaceStates(s.inv.ctx)
	return mapped(workspaces, func(w turns.WorkspaceState) statusRow {
		return statusRow{What: w.State, Name: w.Name, Detail: w.Detail}
	}), err
}

func (s statusSources) settings() ([]statusRow, error) {
	if err := s.opened.trust.CheckProject(s.inv.ctx); err != nil {
		return []statusRow{{What: "settings", Name: project.File, Detail: err.Error()}}, nil
	}
	return nil, nil
}

type statusRow struct {
	What   string    `json:"what" head:"WHAT" doc:"what it is: mount, watch, draft, pending, ahead, behind, live, dirty …"`
	Name   string    `json:"name" head:"NAME" show:"name" doc:"the session, workspace, directory or file"`
	Detail string    `json:"detail" head:"DETAIL" show:"wrap" doc:"more about it"`
	Active timeField `json:"active_at" head:"ACTIVITY" show:",person" doc:"the last activity of the session that it is about"`
}
