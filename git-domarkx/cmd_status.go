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
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

type statusCmd struct{ jsonOption }

func (statusCmd) Help() string {
	return `
Says what the repository's sessions are up to: mounts, saves that did not parse, sessions
that are not the same here and at a remote, as of the last push or fetch, workspaces that
are live on this machine, and sessions that are not trusted.

## Output

    WHAT  NAME  DETAIL

Of sessions in the same state, those with the newest activity come first; a terminal shows
when that was.

- ` + "`" + `mount` + "`" + `: NAME is the directory, DETAIL says who serves it, and whether that process ended or does not answer.
- ` + "`" + `watch` + "`" + `: a process records the conversations of coding agents; DETAIL says since when.
- ` + "`" + `pending` + "`" + `: a mount has a save of the session that is not in it yet; DETAIL says why. Commands refuse
  the session until it is.
- ` + "`" + `draft` + "`" + `: a save in a mount did not parse; DETAIL says where it is wrong.
- ` + "`" + `file` + "`" + `: a file that was saved beside sessions in a mount is in none of them. Images are kept once a session
  shows them, others with "import --attach".
- ` + "`" + `conflict` + "`" + `: a merge left messages in the texts of both sides; DETAIL says how many.
- ` + "`" + `ahead` + "`" + `, ` + "`" + `behind` + "`" + `, ` + "`" + `diverged` + "`" + `: the session has more here, there, or on both sides; DETAIL is the remote.
- ` + "`" + `only there` + "`" + `: the remote, which is DETAIL, has a session that is not here.
- ` + "`" + `live` + "`" + `, ` + "`" + `dirty` + "`" + `, ` + "`" + `busy` + "`" + `: the workspace NAME has resources on this machine, which are DETAIL; they hold
  changes that are in no version; another process works with them. Only directories are looked
  into.
- ` + "`" + `outdated` + "`" + `: the workspace has a newer version than its resources, after a kill or a pull; the next
  call brings them there.
- ` + "`" + `loading` + "`" + `: a version was loaded only in part, which is no change of yours; the next call goes on with it or says what
  is in the way, and "rewind" leads to another version.
- ` + "`" + `setup` + "`" + `: the setup script of the workspace did not end well.
- ` + "`" + `interrupted` + "`" + `: the program was killed during a call of the session NAME; "run" records that.
- ` + "`" + `untrusted` + "`" + `: the session asks for resources, or has calls to make in those of .domarkx.toml, and is
  not run before you trust it.
- ` + "`" + `settings` + "`" + `: .domarkx.toml is wrong; DETAIL says where. Sessions are not run or trusted until it
  is mended.

When there is nothing to say, a terminal says so, and programs read nothing.
`
}

func (c *statusCmd) Run(inv *invocation) error {
	inv.patience = mountd.ReportPatience
	opened, err := inv.open()
	if err != nil {
		return err
	}
	git, err := inv.git()
	if err != nil {
		return err
	}
	list, unread := opened.sessions.ListAbout(inv.ctx)
	if list == nil && unread != nil {
		return unread
	}
	active := make(map[string]int64, len(list))
	for _, info := range list {
		active[info.Name] = info.Described().Active
	}
	s := statusSources{inv, opened, git, list}
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
	if err := printResults(inv, c.JSON, rows); err != nil || unread == nil {
		return err
	}
	return badInput(inv, []error{unread})
}

// statusSources are where the rows of "status" come from.
type statusSources struct {
	inv    *invocation
	opened managers
	git    *gitcmd.Git
	list   []domarkx.Info
}

func (s statusSources) mounts() ([]statusRow, error) {
	mounts, err := s.inv.listMounts()
	var rows []statusRow
	for _, m := range mounts {
		rows = append(rows, statusRow{What: "mount", Name: m.Dir, Detail: m.Describe(s.inv.ctx)})
	}
	return rows, err
}

func (s statusSources) watcher() ([]statusRow, error) {
	running, ok := recording.Running(recording.Dir(s.git.CommonDir))
	if !ok {
		return nil, nil
	}
	return []statusRow{{What: "watch", Name: fmt.Sprintf("process %d", running.PID), Detail: "records agents since " + running.Since.Format(time.RFC3339)}}, nil
}

func (s statusSources) pending() (rows []statusRow, err error) {
	for _, name := range slices.Sorted(maps.Keys(s.opened.pending)) {
		rows = append(rows, statusRow{What: engine.Pending, Name: name, Detail: s.opened.pending[name].Reason})
	}
	return rows, nil
}

func (s statusSources) drafts() (rows []statusRow, err error) {
	unsaved, err := s.opened.sessions.Drafts()
	for _, d := range unsaved {
		rows = append(rows, statusRow{What: "draft", Name: d.Name, Detail: d.Problem})
	}
	return rows, err
}

func (s statusSources) files() (rows []statusRow, err error) {
	files, err := drafts.ListBeside(mountd.DraftsDir(s.git))
	for _, path := range files {
		rows = append(rows, statusRow{What: "file", Name: path, Detail: "is in no session; a mount shows it in sessions/"})
	}
	return rows, err
}

func (s statusSources) conflicts() (rows []statusRow, err error) {
	conflicts, err := s.opened.sessions.Conflicts(s.inv.ctx, s.list)
	for _, name := range slices.Sorted(maps.Keys(conflicts)) {
		rows = append(rows, statusRow{What: engine.Conflict, Name: name, Detail: describeConflicts(conflicts[name])})
	}
	return rows, err
}

func (s statusSources) divergences() (rows []statusRow, err error) {
	remotes, err := s.inv.remotes()
	if err != nil {
		return nil, err
	}
	differing, err := s.opened.remotes.Divergences(s.inv.ctx, remotes)
	for _, d := range differing {
		rows = append(rows, statusRow{What: d.State, Name: d.Name, Detail: d.Remote})
	}
	return rows, err
}

func (s statusSources) workspaces() (rows []statusRow, err error) {
	workspaces, err := s.opened.turns.WorkspaceStates(s.inv.ctx)
	for _, w := range workspaces {
		rows = append(rows, statusRow{What: w.State, Name: w.Name, Detail: w.Detail})
	}
	return rows, err
}

func (s statusSources) settings() ([]statusRow, error) {
	if err := s.opened.trust.CheckProject(s.inv.ctx); err != nil {
		return []statusRow{{What: "settings", Name: trust.ProjectFile, Detail: err.Error()}}, nil
	}
	return nil, nil
}

func (statusCmd) ExitOne() string { return "A session cannot be read, and the rest is listed." }

func (statusCmd) row() any { return []statusRow{} }

type statusRow struct {
	What   string    `json:"what" head:"WHAT" doc:"what it is: mount, watch, draft, pending, ahead, behind, live, dirty …"`
	Name   string    `json:"name" head:"NAME" show:"name" doc:"the session, workspace, directory or file"`
	Detail string    `json:"detail" head:"DETAIL" show:"wrap" doc:"more about it"`
	Active timeField `json:"active_at" head:"ACTIVITY" show:",person" doc:"the last activity of the session that it is about"`
}
