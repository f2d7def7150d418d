package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/find/blame"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/google/uuid"
)

type blameCmd struct {
	rowsOption[blameRow]
	Lines  string `short:"L" placeholder:"A,B" help:"Only the lines from A to B, counted from 1; A, alone is to the end."`
	Format string `enum:",agent-trace" default:"" placeholder:"FORMAT" help:"Print a record of Agent Trace 0.1.0: agent-trace."`
	Path   string `arg:"" name:"PATH" help:"A file of the work tree."`

	first, last int // of the lines; 0 where that end is open
}

type blameRow struct {
	Line      int       `json:"line" head:"LINE" show:"index" doc:"the number of the line, from 1"`
	Source    string    `json:"source" doc:"session, person, unclear or expired"`
	Session   string    `json:"session,omitempty" doc:"the session that wrote it"`
	Index     *int      `json:"index,omitempty" doc:"the K of NAME#K; none if the session no longer has the message"`
	Message   string    `json:"message,omitempty" doc:"the id of the message"`
	MessageID string    `json:"message_id,omitempty" doc:"the same as message"`
	Who       string    `json:"-" head:"SESSION" show:"name"`
	K         string    `json:"-" head:"K"`
	Model     string    `json:"model,omitempty" doc:"the model that answered"`
	ModelName string    `json:"-" head:"MODEL" show:"name,spare"`
	Date      timeField `json:"date" head:"DATE" show:",spare" doc:"when it was written"`
	Version   string    `json:"version,omitempty" doc:"the workspace version in which it appeared"`
	Commit    string    `json:"commit,omitempty" doc:"of a person's line: the commit that git blame names"`
	Text      codeField `json:"text" head:"TEXT" show:"code" doc:"the line"`
}

func (c *blameCmd) prepare(*invocation) (err error) {
	c.first, c.last, err = parseLines(c.Lines)
	return err
}

func (c *blameCmd) Run(inv *invocation, opened managers) error {
	m := blame.New(opened.store, opened.git, local.NewFile(opened.git))
	path, err := m.Path(c.Path)
	if err != nil {
		return err
	}
	lines, err := m.File(inv.ctx, path, c.first, c.last)
	if err != nil {
		return err
	}
	if c.Format != "" {
		return writeTrace(inv, opened.git, path, lines)
	}
	gaps := map[string]*domarkx.ExpiredError{}
	for _, line := range lines {
		if line.Source == blame.Expired {
			gaps[line.Expired.Version] = line.Expired
		}
	}
	for _, version := range slices.Sorted(maps.Keys(gaps)) {
		inv.say("%v", gaps[version])
	}
	return c.print(inv, mapped(lines, blameRowOf))
}

// writeTrace prints a record of Agent Trace.
func writeTrace(inv *invocation, git *gitcmd.Git, path string, lines []blame.Line) error {
	revision := ""
	if out, err := git.Run(inv.ctx, nil, "rev-parse", "--verify", "-q", "HEAD"); err == nil {
		revision = strings.TrimSpace(string(out))
	}
	record := blame.AgentTrace(path, lines, uuid.NewString(), revision, time.Now(), versionText(release, commit, buildInfo()))
	return inv.writeJSON(record.AppendJSON(nil, "", "  "))
}

func blameRowOf(line blame.Line) blameRow {
	row := blameRow{Line: line.Number, Source: "person", Who: "-", K: "-", ModelName: "-", Date: timeField(line.Date), Version: line.Version, Commit: line.Commit, Text: codeField(line.Text)}
	switch line.Source {
	case blame.Expired:
		row.Source, row.Who, row.K = "expired", "?", "?"
	case blame.Unclear:
		row.Source, row.Who, row.K = "unclear", "?", "?"
	case blame.Session:
		row.Source, row.Session, row.Who, row.Model = "session", line.Session, line.Session, line.Model
		if line.Model != "" {
			row.ModelName = line.Model
		}
		if !line.ID.IsZero() {
			row.Message = line.ID.String()
			row.MessageID = row.Message
		}
		if line.Message >= 0 {
			row.Index, row.K = &line.Message, strconv.Itoa(line.Message)
		}
	}
	return row
}

// parseLines parses A,B. Without A or B, that end is open, and the number is 0.
func parseLines(text string) (first, last int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	from, to, both := strings.Cut(text, ",")
	if !both {
		to = from
	}
	for _, end := range []struct {
		text  string
		value *int
	}{{from, &first}, {to, &last}} {
		if end.text == "" && both && text != "," {
			continue
		}
		if *end.value, err = strconv.Atoi(end.text); err != nil || *end.value < 1 {
			return 0, 0, usagef("-L %q is not a range of lines, expected A,B with numbers from 1", text)
		}
	}
	if last != 0 && last < first {
		return 0, 0, usagef("-L %q ends before it begins", text)
	}
	return first, last, nil
}
