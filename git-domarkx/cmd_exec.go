package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

type execCmd struct {
	Yes      bool     `help:"Go on with a session that is not trusted, this once."`
	ExitCode bool     `help:"Exit with the exit code of the command that was run; 124 when its time ran out."`
	Args     *string  `placeholder:"JSON" help:"The arguments as a JSON object; KEY=VALUE adds to them."`
	Name     string   `arg:"" name:"NAME" of:"session" help:"The session."`
	Resource string   `arg:"" optional:"" name:"RESOURCE" help:"The resource of its workspace; or -- and the words of a command."`
	Tool     string   `arg:"" optional:"" name:"TOOL" help:"The tool to call; git domarkx plugin list shows them."`
	Pairs    []string `arg:"" optional:"" name:"KEY=VALUE" help:"An argument of the tool: text, or JSON where the tool wants something else."`

	request turns.ExecRequest
}

func (c *execCmd) prepare(inv *invocation) error {
	words := c.command(inv.args)
	if words == nil && (c.Resource == "" || c.Tool == "") {
		return usagef("missing RESOURCE and TOOL, or -- and a command")
	}
	if i := slices.IndexFunc(c.Pairs, func(pair string) bool { return strings.IndexByte(pair, '=') <= 0 }); i >= 0 && words == nil {
		return usagef("argument %q: expected KEY=VALUE", c.Pairs[i])
	}
	// The call is recorded in a document, and must run exactly as recorded. Documents are UTF-8.
	if i := slices.IndexFunc(inv.args, func(word string) bool { return !utf8.ValidString(word) }); i >= 0 {
		return usagef("argument %q: expected UTF-8; a command writes other bytes (printf, base64 -d)", inv.args[i])
	}
	c.request = turns.ExecRequest{Resource: c.Resource, Tool: c.Tool, Pairs: c.Pairs, Command: words, Approve: inv.consent(c.Yes)}
	if c.Args != nil {
		args, err := jsonvalue.ParseValue([]byte(*c.Args))
		if err != nil || args.Kind() != jsonvalue.Object || words != nil {
			return usagef("--args %q: expected a JSON object, for RESOURCE and TOOL", *c.Args)
		}
		c.request.Args = &args
	}
	return nil
}

func (c *execCmd) Run(inv *invocation, opened managers) error {
	c.request.Name = c.Name
	report, err := opened.turns.Exec(inv.ctx, c.request)
	showSetup(inv.err, err)
	if err != nil {
		return err
	}
	if !report.OK {
		return &domarkx.ToolError{Code: report.Code, Message: report.Outcome.Message}
	}
	if _, err := fmt.Fprintln(inv.out, toolcall.JSONLine(report.Result)); err != nil || !c.ExitCode {
		return err
	}
	return commandStatus(report.Result)
}

// command returns the words after --, or nil unless they directly follow the session.
func (c *execCmd) command(args []string) []string {
	i := slices.Index(args, "--")
	if i < 0 || i+1 == len(args) {
		return nil
	}
	words := args[i+1:]
	parsed := append([]string{c.Resource, c.Tool}, c.Pairs...)
	if len(words) == 1 {
		parsed = parsed[:1]
	}
	if !slices.Equal(words, parsed) {
		return nil
	}
	return words
}

// timedOutStatus is the exit status of timeout(1).
const timedOutStatus = 124

// commandStatus returns an error with the exit status of the command that ran, or nil for 0.
func commandStatus(result jsonvalue.Value) error {
	if late, _ := result.Get("timed_out"); late.IsTrue() {
		return statusError(timedOutStatus)
	}
	code, _ := result.Get("exit_code")
	if n, err := strconv.Atoi(code.Text()); err == nil && n != 0 {
		return statusError(n & 0xff)
	}
	return nil
}

// A statusError ends the program with an exit status and no further message.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
