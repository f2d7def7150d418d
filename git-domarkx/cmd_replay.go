package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/engine/turns/replay"
)

type replayCmd struct {
	rowsOption[replayRow]
	Yes  bool   `help:"Replay what is not trusted, this once."`
	Name string `arg:"" name:"NAME" of:"session" help:"The session."`
}

func (c *replayCmd) Run(inv *invocation, opened managers) error {
	w := c.prompt(inv)
	differ, err := opened.replays.Replay(inv.ctx, replay.Request{Name: c.Name, Approve: inv.consent(c.Yes), Report: func(r replay.Result) {
		verdict := "differs"
		switch {
		case r.NotComparable:
			verdict = "not comparable"
		case r.Same():
			verdict = "same"
		}
		_ = w.add(replayRow{fmt.Sprintf("%d.%d", r.Message, r.Index), r.Message, r.Index, outcomeField(r.Recorded), outcomeField(r.Replayed), verdict})
	}})
	if err == nil && differ > 0 {
		err = errNo
	}
	return errors.Join(w.end(), err)
}

type replayRow struct {
	Place    string       `head:"CALL"`
	Index    int          `json:"index" doc:"the K of the message NAME#K"`
	Call     int          `json:"call" doc:"the number of the call in the message, from 0"`
	Recorded outcomeField `json:"recorded" head:"RECORDED" doc:"the resource's version after the recorded call, or the code of its error"`
	Replayed outcomeField `json:"replayed" head:"REPLAYED" doc:"the same of the repeated call; empty where it was not repeated"`
	Verdict  string       `json:"verdict" head:"VERDICT" doc:"same, differs or not comparable"`
}

// An outcomeField is a workspace version, or an error code.
type outcomeField string

func (o outcomeField) cell() cell {
	if strings.Trim(string(o), "0123456789abcdef") != "" {
		return text(string(o))
	}
	return oid(string(o))
}
