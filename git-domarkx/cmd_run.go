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
	jsonOption
	Yes   bool   `help:"Run what is not trusted, this once."`
	Retry bool   `help:"Make interrupted calls again, and run a setup script again that failed."`
	Name  string `arg:"" name:"NAME" help:"The session."`
}

func (runCmd) Help() string {
	return `
Makes, in order, each pending call of a session: each tool-call block, and each code block
with a name in a language that a resource of the workspace runs, in a message of the
assistant, that has no tool-result block behind it. What a user's message holds is never
run, nor are code blocks without a name.

    ` + "```" + `tool-call
    {"resource": "local_shell", "tool": "run_command", "arguments": {"command": "make"}}
    ` + "```" + `

    ` + "```" + `bash name=test
    make test
    ` + "```" + `

The result is written behind the call; all else in the message stays as its author wrote
it. When a call changed something, the workspace gets a version, and the message is linked
to the version after its last call. Whatever comes of a call (a bad argument, a resource
that does not exist, a failure) has a result, and the next one is made. What was changed
in the workspace between two calls becomes a version of its own first.

The resources are those of the document's workspace-config, or of its engine, else those of
the repository's .domarkx.toml ("git domarkx help trust"). The first call of a session
makes them and runs its setup script, once; when that fails, nothing else runs, and
nothing is recorded: the calls stay pending. A call may take as many seconds as "timeout"
in the session-config says, 60 without it; then it is ended with all that it started.

With --yes, an untrusted session stays untrusted. Where only pending calls are not trusted,
such as those of a model, this approves them: the trust in the session grows by each call
that is made, as in "chat".

A call during which the program is killed is recorded as interrupted by the next command
that uses the workspace, and made again only with --retry. When a call is edited, its
message is pending again from that call on. When a message goes away or its call is
edited while the call runs, the call is added to the end of the session with its result.

## Output

    CALL  RESOURCE  TOOL  STATUS  WORKSPACE

A line for each call that was made. CALL is K.I: call I of message K, counted from 0. TOOL
is the language of a code block, STATUS ok or the code of the error, WORKSPACE the version
of the workspace after the call.
`
}

func (runCmd) ExitOne() string {
	return "The session is not trusted, a resource cannot be opened, the setup script failed, or a call has an error for its result."
}

func (c *runCmd) Run(inv *invocation) error {
	opened, err := inv.openFor(&c.Name)
	if err != nil {
		return err
	}
	inv.mentionDrafts(c.Name)
	var broken error // errors of writing the output
	w := newResultWriter[runRow](inv, c.JSON)
	w.prompt = true
	ran, err := opened.turns.Run(inv.ctx, turns.RunRequest{Name: c.Name, Retry: c.Retry, Approve: inv.consent(c.Yes),
		Report: func(r turns.CallResult) {
			status := r.Code
			if r.OK {
				status = "ok"
			}
			broken = errors.Join(broken, w.add(runRow{fmt.Sprintf("%d.%d", r.Message, r.Index), r.Message, r.Index, r.Resource, r.Tool, status, oidField(r.WorkspaceVersion)}))
			if !r.OK && !inv.opts.Quiet {
				fmt.Fprintf(inv.err, "%s#%d, call %d: %s: %s\n", visible(c.Name), r.Message, r.Index, visible(r.Code), visible(r.Outcome.Message))
			}
		}})
	showSetup(inv.err, err)
	if len(ran.Interrupted) > 0 && !inv.opts.Quiet {
		var calls []string
		for _, r := range ran.Interrupted {
			calls = append(calls, fmt.Sprintf("%d.%d", r.Message, r.Index))
		}
		fmt.Fprintf(inv.err, "Interrupted earlier and not repeated: %s. To run them again: git domarkx run --retry %s\n", strings.Join(calls, ", "), visible(refname.Argument(c.Name)))
	}
	if err == nil && ran.Failed > 0 {
		err = errNo
	}
	return errors.Join(broken, w.end(), err)
}

func (runCmd) row() any { return []runRow{} }

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
	var failed *turns.SetupError
	if !errors.As(err, &failed) || failed.Output == "" {
		return
	}
	for line := range strings.Lines(failed.Output) {
		fmt.Fprintln(w, visible(strings.TrimSuffix(line, "\n")))
	}
}
