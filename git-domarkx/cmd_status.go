package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
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
	sessions := opened.sessions
	if err != nil {
		return err
	}
	git, err := inv.git()
	if err != nil {
		return err
	}
	remotes, err := inv.remotes()
	if err != nil {
		return err
	}
	differing, err := opened.remotes.Divergences(inv.ctx, remotes)
	if err != nil {
		return err
	}
	var rows []statusRow
	add := func(what, name, detail string) {
		rows = append(rows, statusRow{What: what, Name: name, Detail: detail})
	}
	list, unread := sessions.ListAbout(inv.ctx)
	if list == nil && unread != nil {
		return unread
	}
	active := make(map[string]int64, len(list))
	for _, info := range list {
		active[info.Name] = info.Described().Active
	}
	// ofSessions sorts the rows of sessions that add adds by their activity, the newest first.
	ofSessions := func(add func()) {
		start := len(rows)
		add()
		for i := range rows[start:] {
			rows[start+i].Active = timeField(active[rows[start+i].Name])
		}
		slices.SortStableFunc(rows[start:], func(a, b statusRow) int { return cmp.Compare(b.Active, a.Active) })
	}
	mounts, err := inv.listMounts()
	if err != nil {
		return err
	}
	for _, m := range mounts {
		add("mount", m.Dir, m.Describe(inv.ctx))
	}
	if running, ok := recording.Running(recording.Dir(git.CommonDir)); ok {
		add("watch", fmt.Sprintf("process %d", running.PID), "records agents since "+running.Since.Format(time.RFC3339))
	}
	ofSessions(func() {
		for _, name := range slices.Sorted(maps.Keys(inv.opened.pending)) {
			add(engine.Pending, name, inv.opened.pending[name].Reason)
		}
	})
	unsaved, err := sessions.Drafts()
	if err != nil {
		return err
	}
	ofSessions(func() {
		for _, d := range unsaved {
			add("draft", d.Name, d.Problem)
		}
	})
	files, err := drafts.ListBeside(mountd.DraftsDir(git))
	if err != nil {
		return err
	}
	for _, path := range files {
		add("file", path, "is in no session; a mount shows it in sessions/")
	}
	conflicts, err := sessions.Conflicts(inv.ctx, list)
	if err != nil {
		return err
	}
	ofSessions(func() {
		for _, name := range slices.Sorted(maps.Keys(conflicts)) {
			add(engine.Conflict, name, describeConflicts(conflicts[name]))
		}
	})
	ofSessions(func() {
		for _, d := range differing {
			add(d.State, d.Name, d.Remote)
		}
	})
	workspaces, err := opened.turns.WorkspaceStates(inv.ctx)
	if err != nil {
		return err
	}
	for _, w := range workspaces {
		add(w.State, w.Name, w.Detail)
	}
	if err := opened.trust.CheckProject(inv.ctx); err != nil {
		add("settings", trust.ProjectFile, err.Error())
	}
	if len(rows) == 0 && unread == nil {
		inv.allIsWell("status: nothing needs attention")
	}
	if err := printResults(inv, c.JSON, rows); err != nil || unread == nil {
		return err
	}
	return badInput(inv, []error{unread})
}

func (statusCmd) ExitOne() string { return "A session cannot be read, and the rest is listed." }

func (statusCmd) row() any { return []statusRow{} }

type statusRow struct {
	What   string    `json:"what" head:"WHAT" doc:"what it is: mount, watch, draft, pending, ahead, behind, live, dirty …"`
	Name   string    `json:"name" head:"NAME" show:"name" doc:"the session, workspace, directory or file"`
	Detail string    `json:"detail" head:"DETAIL" show:"wrap" doc:"more about it"`
	Active timeField `json:"active_at" head:"ACTIVITY" show:",person" doc:"the last activity of the session that it is about"`
}
