package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/find/pick"
	"github.com/domarkx/domarkx/git-domarkx/find/search"
)

type searchCmd struct {
	rowsOption[searchRow]
	Fixed   bool     `short:"F" name:"fixed-strings" xor:"kind" help:"Search for the text as it is, not for words."`
	Regexp  bool     `short:"e" name:"regexp" xor:"kind" help:"Search by a regular expression (RE2)."`
	Role    string   `enum:"user,assistant," default:"" placeholder:"ROLE" help:"Find only messages of this role: user or assistant."`
	Model   string   `placeholder:"MODEL" help:"Find only messages of this model, a name or glob."`
	Tool    string   `placeholder:"TOOL" help:"Find only messages that call this tool, a name or glob; RESOURCE__TOOL is that of one resource."`
	Path    string   `placeholder:"GLOB" help:"Find only messages with calls that name such a path; the end of it is enough (main.go, src/*.go, src/**)."`
	Session []string `sep:"none" placeholder:"PATTERN" help:"Search only sessions whose name matches, as for list; may be repeated."`
	Tag     string   `placeholder:"TAG" help:"Search only sessions with this tag."`
	Since   string   `placeholder:"DATE" help:"Find only messages since a date, or since so long ago: 2026-11-01, 2w."`
	Until   string   `placeholder:"DATE" help:"Find only messages until a date; the day is included."`
	History bool     `help:"Find also texts that were replaced; they are named NAME@OID#K."`
	Limit   *int     `short:"n" placeholder:"N" help:"Show at most N messages; 0 for all. On a terminal, 10 unless this is given."`
	Query   []string `arg:"" name:"QUERY" help:"What to search for; several arguments are joined by spaces."`
}

type searchRow struct {
	Place    string    `json:"-" head:"MESSAGE"`
	Session  string    `json:"session" doc:"the name of the session"`
	Index    int       `json:"index" doc:"the K of NAME#K"`
	Message  string    `json:"message,omitempty" doc:"the id of the message"`
	Snapshot oidField  `json:"oid,omitempty" doc:"the snapshot that has the text, if it was replaced since (with --history)"`
	Date     timeField `json:"date" head:"DATE" doc:"when the text was written"`
	Role     string    `json:"role" head:"ROLE" doc:"user or assistant"`
	Model    string    `json:"model,omitempty" doc:"the model that wrote it"`
	Snippet  string    `json:"snippet" head:"SNIPPET" doc:"one line of the text, around the match"`
}

func (c *searchCmd) Run(inv *invocation, opened managers) error {
	q := search.Query{Text: strings.Join(c.Query, " "), Advice: "-F searches for a text as it is", Role: domarkx.Role(c.Role), Model: c.Model, Tool: c.Tool, Path: c.Path, History: c.History}
	if c.Limit != nil {
		if q.Limit = *c.Limit; q.Limit < 0 {
			return usagef("--limit is negative")
		}
	}
	switch {
	case c.Fixed:
		q.Kind = search.Fixed
	case c.Regexp:
		q.Kind = search.Regexp
	}
	if err := search.Check(q); err != nil {
		return usagef("%v", err)
	}
	return c.find(inv, opened, q)
}

// terminalHits is how many hits a terminal shows, and countedHits how many are counted.
const (
	terminalHits = 10
	countedHits  = 10_000
)

// searchMemory limits the memory while many messages are indexed, or many hits printed.
const searchMemory = 128 << 20

func (c *searchCmd) find(inv *invocation, opened managers, q search.Query) error {
	var err error
	if q.Since, q.Until, err = period(c.Since, c.Until); err != nil {
		return err
	}
	if len(c.Session) > 0 || c.Tag != "" {
		if q.Sessions, err = matchingSessions(inv, opened.sessions, c.Session, c.Tag); err != nil {
			return err
		}
	}
	opened.store.BoundMemory(packMemory)
	setMemoryLimit(inv.getenv, searchMemory)
	p := inv.progress()
	defer p.finish()
	x, err := search.Open(inv.ctx, opened.store, search.Options{History: q.History, Warn: inv.warn, Progress: func(n int) {
		if n%100 == 0 {
			p.report("Indexing messages", int64(n), 0)
		}
	}})
	if err != nil {
		return err
	}
	defer x.Close()
	p.finish()
	if inv.out.tty && c.Limit == nil && !c.JSON {
		return c.best(inv, x, q)
	}
	return c.all(inv, x, q)
}

// best prints the best hits to a terminal, and says how many more there are.
func (c *searchCmd) best(inv *invocation, x *search.Index, q search.Query) error {
	q.Limit, q.Prose, q.Width = terminalHits, true, max(20, min(inv.out.width()-4, 160))
	hits, total, err := x.Best(inv.ctx, q, countedHits)
	if err == nil {
		err = inv.paged(func() error {
			for _, h := range hits {
				if err := inv.showHit(h); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err = errors.Join(err, inv.out.Flush()); err != nil {
		return err
	}
	switch more := grouped(total - len(hits)); {
	case total == 0:
		return errNo
	case total == len(hits):
	case total == countedHits:
		inv.say("At least %s more; -n 0 shows all, -n 50 the best 50.", more)
	default:
		inv.say("%s more; -n 0 shows all.", more)
	}
	return nil
}

// all prints hits as they come.
func (c *searchCmd) all(inv *invocation, x *search.Index, q search.Query) error {
	rows, idOf := newResultWriter[searchRow](inv, c.JSON), search.MessageIDs(inv.ctx, inv.opened.store)
	n := 0
	for hits, err := range x.Hits(inv.ctx, q) {
		if err == nil && n == 0 {
			err = inv.page()
		}
		if err != nil {
			return err
		}
		n += len(hits)
		for _, h := range hits {
			if !c.JSON && inv.out.tty {
				err = inv.showHit(h)
			} else {
				row := searchRow{Place: messageName(h), Session: h.Session, Index: h.K, Snapshot: oidField(h.Snapshot), Date: timeField(h.Date), Role: string(h.Role), Model: h.Model, Snippet: h.Snippet}
				if c.JSON {
					row.Message = idOf(h)
				}
				err = rows.add(row)
			}
			if err != nil {
				return err
			}
		}
		if err := inv.out.Flush(); err != nil {
			return err
		}
	}
	if c.JSON || !inv.out.tty {
		if err := rows.end(); err != nil {
			return err
		}
	}
	if n == 0 {
		return errNo
	}
	return nil
}

// showHit prints a hit to a terminal, with the matches highlighted.
func (inv *invocation) showHit(h search.Hit) error {
	if h.Snapshot != "" {
		h.Snapshot = h.Snapshot[:10]
	}
	paint := inv.color()
	var line strings.Builder
	last := 0
	for _, m := range h.Matches {
		line.WriteString(visibleLine(h.Snippet[last:m[0]]) + paint(match, visibleLine(h.Snippet[m[0]:m[1]])))
		last = m[1]
	}
	line.WriteString(visibleLine(h.Snippet[last:]))
	_, err := fmt.Fprintf(inv.out, "%s  %s  %s\n  %s\n", paint(cyan, visibleLine(messageName(h))), date(h.Date).person, h.Role, line.String())
	return err
}

func matchingSessions(inv *invocation, sessions *engine.SessionManager, patterns []string, tag string) (map[string]bool, error) {
	list, err := sessions.List(inv.ctx)
	if list == nil && err != nil {
		return nil, err
	}
	if len(patterns) > 0 {
		if full, err := inv.matching(list, patterns); !errors.Is(err, domarkx.ErrNoSession) {
			if err != nil {
				return nil, badValue("--session", err)
			}
			patterns = full
		}
	}
	if list, err = inv.opened.picker().Select(inv.ctx, list, pick.Options{Patterns: patterns, Tag: tag, Sort: "name"}); list == nil {
		return nil, badValue("--session", err)
	}
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, info := range list {
		names[info.Name] = true
	}
	return names, nil
}

func messageName(h search.Hit) string {
	name := h.Session
	if h.Snapshot != "" {
		name += "@" + h.Snapshot
	}
	return name + "#" + strconv.Itoa(h.K)
}
