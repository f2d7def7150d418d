package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/gitstore/refname"
)

type runCmd struct {
	rowsOption[runRow]
	Yes   bool   `help:"Run what is not trusted, this once."`
	Retry bool   `help:"Make interrupted calls again, and run a setup script again that failed."`
	Name  string `arg:"" name:"NAME" of:"session" help:"The session."`
}

func (c *runCmd) Run(inv *invocation, opened managers) error {
	inv.mentionDrafts(c.Name)
	w := c.prompt(inv)
	ran, err := opened.turns.Run(inv.ctx, turns.RunRequest{Name: c.Name, Retry: c.Retry, Approve: inv.consent(c.Yes),
		Report: func(r turns.CallResult) {
			status := r.Code
			if r.OK {
				status = "ok"
			}
			_ = w.add(runRow{fmt.Sprintf("%d.%d", r.Message, r.Index), r.Message, r.Index, r.Resource, r.Tool, status, oidField(r.WorkspaceVersion)})
			if !r.OK {
				inv.say("%s#%d, call %d: %s: %s", c.Name, r.Message, r.Index, r.Code, r.Outcome.Message)
			}
		}})
	showSetup(inv.err, err)
	if len(ran.Interrupted) > 0 {
		calls := mapped(ran.Interrupted, func(r turns.CallResult) string { return fmt.Sprintf("%d.%d", r.Message, r.Index) })
		inv.say("Interrupted earlier and not repeated: %s. To run them again: git domarkx run --retry %s", strings.Join(calls, ", "), refname.Argument(c.Name))
	}
	if err == nil && ran.Failed > 0 {
		err = errNo
	}
	return errors.Join(w.end(), err)
}

type runRow struct {
	Place     string   `head:"CALL"`
	Index     int      `json:"index" doc:"the K of the message NAME#K"`
	Call      int      `json:"call" doc:"the number of the call in the message, from 0"`
	Resource  string   `json:"resource" head:"RESOURCE" doc:"the resource that was called"`
	Tool      string   `json:"tool" head:"TOOL" doc:"the tool, or the language of a code block"`
	Status    string   `json:"status" head:"STATUS" doc:"ok, or the code of the error"`
	Workspace oidField `json:"workspace_oid" head:"WORKSPACE" doc:"the workspace version after the call"`
}

// printLine prints one result immediately, for commands whose results take time.
func (inv *invocation) printLine(cells ...cell) error {
	t := newTable()
	t.add(cells...)
	return errors.Join(t.write(inv), inv.out.Flush())
}

// showSetup prints the output of a setup script that failed.
func showSetup(w io.Writer, err error) {
	failed, ok := errors.AsType[*turns.SetupError](err)
	if !ok {
		return
	}
	for line := range strings.Lines(failed.Output) {
		fmt.Fprintln(w, visible(strings.TrimSuffix(line, "\n")))
	}
}
