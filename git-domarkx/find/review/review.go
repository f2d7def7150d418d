// Package review shows a change beside the conversation that led to it: for each hunk of a diff the
// messages whose lines survive in it, and before the hunks the prompts and the commands that ran.
//
// Package blame says who wrote a line. It compares contents, so a change is reviewed alike after a
// rebase, a squash or a cherry-pick. Everything that a review holds is masked: it is made to be
// shown to others.
package review

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/find/blame"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// A Manager makes reviews of the changes in a repository.
type Manager struct {
	Store   *gitstore.Store
	Git     *gitcmd.Git
	State   local.State
	Remotes *transfer.Manager
	Scans   *scan.Manager
	Agent   func(context.Context, domarkx.Info) string // name of the program that recorded a session; "" if unknown
}

// Options choose the range of a review.
type Options struct {
	Range  string // as for git diff: A..B, A...B or REV, and COMMIT^! for what a commit changed; "" for the branch
	Staged bool   // the index instead of the work tree
	Paths  []string
	Stat   bool // without the hunks
}

// The sources of lines.
const (
	Model   = "model"   // a message of a session
	Person  = "person"  // no session
	Unknown = "unknown" // one of several sessions, or nobody can say
)

// A Review is a change and its conversation.
type Review struct {
	Range    string    `json:"range" doc:"what is reviewed"`
	From     string    `json:"from" doc:"the commit or tree before the change"`
	To       string    `json:"to" doc:"the commit after it, index, or worktree"`
	Lines    Lines     `json:"lines" doc:"numbers of lines"`
	Models   []Share   `json:"models" doc:"the models that wrote added lines"`
	Remote   string    `json:"remote,omitempty" doc:"the remote of the sessions"`
	Recorded bool      `json:"recorded" doc:"false if this repository has no versions of workspaces, so that every line is unknown"`
	Sessions []Session `json:"sessions" doc:"the sessions with lines in the change"`
	Files    []File    `json:"files" doc:"the changed files"`
}

// Lines are numbers of changed lines.
type Lines struct {
	Added   int `json:"added" doc:"added lines"`
	Removed int `json:"removed" doc:"removed lines"`
	Model   int `json:"model" doc:"added lines that a model wrote"`
	Person  int `json:"person" doc:"added lines that a person wrote"`
	Unknown int `json:"unknown" doc:"added lines with an unknown author"`
}

// count counts an added line.
func (l *Lines) count(source string) {
	l.Added++
	switch source {
	case Model:
		l.Model++
	case Person:
		l.Person++
	default:
		l.Unknown++
	}
}

func (l *Lines) add(o Lines) {
	l.Added += o.Added
	l.Removed += o.Removed
	l.Model += o.Model
	l.Person += o.Person
	l.Unknown += o.Unknown
}

// A Share is the number of lines that a model wrote.
type Share struct {
	Model string `json:"model" doc:"the model; empty if it is not recorded"`
	Lines int    `json:"lines" doc:"how many added lines"`
}

// A Session is a session with lines in the change.
type Session struct {
	Name     string   `json:"session" doc:"the name of the session"`
	Agent    string   `json:"agent,omitempty" doc:"the program that recorded it"`
	Lines    int      `json:"lines" doc:"how many added lines it wrote"`
	OnRemote bool     `json:"on_remote" doc:"whether the remote had all of it when it was last asked"`
	Gone     bool     `json:"gone,omitempty" doc:"true if the session is not in this repository"`
	Prompts  []Prompt `json:"prompts" doc:"what was asked for, in order"`
}

// A Prompt is a request of a user, with its results.
type Prompt struct {
	Index    int       `json:"index" doc:"the K of NAME#K; -1 for what came before the first prompt"`
	Message  string    `json:"message,omitempty" doc:"the id of the message"`
	Date     string    `json:"date,omitempty" doc:"when it was written"`
	Text     string    `json:"text" doc:"the prompt"`
	Lines    int       `json:"lines" doc:"how many added lines its turn wrote"`
	Commands []Command `json:"commands" doc:"the commands that ran in its turn"`
}

// A Command is a command that ran in a turn.
type Command struct {
	Index   int    `json:"index" doc:"the K of the message NAME#K that ran it"`
	Message string `json:"message" doc:"the id of the message"`
	Text    string `json:"command" doc:"the command"`
	Exit    *int   `json:"exit_status" doc:"its exit status; null if it is not recorded"`
	Status  string `json:"status" doc:"ok, failed, or why there is no result"`
}

// A File is a changed file.
type File struct {
	Path      string   `json:"path" doc:"its path"`
	OldPath   string   `json:"old_path,omitempty" doc:"its path before, if it was renamed"`
	Status    string   `json:"status" doc:"added, deleted, renamed or modified"`
	Binary    bool     `json:"binary,omitempty" doc:"true for a binary file"`
	Submodule bool     `json:"submodule,omitempty" doc:"true for a submodule"`
	Lines     Lines    `json:"lines" doc:"numbers of lines"`
	Header    []string `json:"header" doc:"the lines of git diff before the hunks"`
	Hunks     []Hunk   `json:"hunks" doc:"the hunks"`

	old, new string // their names, as git prints them, without masks
	oldID    string // blob before; "" for none
	newID    string
	link     bool // the file is a symbolic link afterwards
}

// A Hunk is a hunk of a diff.
type Hunk struct {
	Header  string   `json:"header" doc:"the line that begins with @@"`
	Lines   []string `json:"lines" doc:"its lines, each with its sign"`
	Authors []Author `json:"authors" doc:"who wrote its added lines, in the order of the lines"`

	oldStart, newStart int
}

// An Author is who wrote lines of a hunk.
type Author struct {
	Source    string `json:"source" doc:"model, person or unknown"`
	Session   string `json:"session,omitempty" doc:"the session"`
	Index     *int   `json:"index,omitempty" doc:"the K of NAME#K; none if the session no longer has the message"`
	Message   string `json:"message,omitempty" doc:"the id of the message"`
	MessageID string `json:"message_id,omitempty" doc:"the same as message"`
	Agent     string `json:"agent,omitempty" doc:"the program that recorded the session"`
	Model     string `json:"model,omitempty" doc:"the model"`
	Date      string `json:"date,omitempty" doc:"when the lines were written"`
	Asked
	Commit string        `json:"commit,omitempty" doc:"of a person's lines: the commit that introduced them"`
	Name   string        `json:"name,omitempty" doc:"the author of that commit"`
	Lines  int           `json:"lines" doc:"how many lines"`
	Ranges []blame.Range `json:"ranges" doc:"the lines in the new file"`

	from blame.Origin
}

// Asked is the prompt that led to a message.
type Asked struct {
	Prompt   string `json:"prompt,omitempty" doc:"the beginning of the prompt that led to the message"`
	PromptAt *int   `json:"prompt_message,omitempty" doc:"the index of the prompt's message"`
}

// Review reviews a change.
func (m *Manager) Review(ctx context.Context, o Options) (*Review, error) {
	c, err := m.compared(ctx, o)
	if err != nil {
		return nil, err
	}
	files, err := m.diff(ctx, c, o.Paths)
	if err != nil {
		return nil, err
	}
	mask, err := m.newMask(ctx)
	if err != nil {
		return nil, err
	}
	r := &Review{Range: mask.text(c.name), From: c.from, To: c.to, Models: []Share{}, Sessions: []Session{}, Files: files}
	workspaces, err := m.Store.Workspaces(ctx)
	if err != nil && workspaces == nil {
		return nil, err
	}
	r.Recorded = len(workspaces) > 0
	contents, err := m.contents(ctx, c, files)
	if err != nil {
		return nil, err
	}
	if err := m.authors(ctx, c, r, contents); err != nil {
		return nil, err
	}
	if err := m.converse(ctx, r, mask); err != nil {
		return nil, err
	}
	mask.files(files, contents)
	if o.Stat {
		for i := range files {
			files[i].Header, files[i].Hunks = nil, nil
		}
	}
	return r, nil
}
