package gitrepository

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// A request is a call of a tool that runs git.
type request struct {
	jsonvalue.Value // the arguments
	g               *gitcmd.Git
	paths           []string // from the top; nil for none
}

// runners are the tools that run git.
var runners = map[string]func(*repository, context.Context, request) (domarkx.Result, error){
	"status": (*repository).status, "diff": (*repository).diff, "log": (*repository).log,
	"commit": (*repository).commit, "checkout": (*repository).checkout, "branch": (*repository).branch,
}

const (
	revision = `{"type": "string", "minLength": 1, "description": "a branch, tag or commit"}`
	paths    = `{"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "description": "files or directories, from the top"}`
	// The tools that create commits accept author and date, so that a replay can repeat them.
	signed = `"author": {"type": "string", "description": "Name <address>; the user unless given"},
"date": {"type": "string", "description": "RFC 3339; now unless given"}`
)

// gitTools returns the tools that run git.
func gitTools() []domarkx.Tool {
	return []domarkx.Tool{
		domarkx.NewTool("status", "Tells the branch, the commit and the files that differ from it, by the letters of git status --short.", ``, ``),
		domarkx.NewTool("diff", "Shows what is not staged; with staged what is; with from the work tree against a commit; with from and to two commits.",
			`"staged": {"type": "boolean"}, "from": `+revision+`, "to": `+revision+`, "paths": `+paths, ``),
		domarkx.NewTool("log", "Lists commits, newest first.",
			`"ref": `+revision+`, "max": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "50 unless given"}, "paths": `+paths, ``),
		domarkx.NewTool("commit", "Commits all changes but ignored files; with paths those of the paths and what is staged; with staged only that.",
			`"message": {"type": "string", "minLength": 1}, "paths": `+paths+`, "staged": {"type": "boolean"}, "allow_empty": {"type": "boolean"}, `+signed, `"message"`),
		domarkx.NewTool("checkout", "Switches to a branch, or to a commit without a branch; with create to a new branch from start; with paths brings back those files, from ref or what is staged.",
			`"ref": `+revision+`, "create": {"type": "boolean"}, "start": `+revision+`, "force": {"type": "boolean", "description": "throws changes away"}, "paths": `+paths+`, `+signed, ``),
		domarkx.NewTool("branch", "Lists the branches; with name makes a branch at start, or deletes it.",
			`"name": {"type": "string", "minLength": 1}, "start": `+revision+`, "delete": {"type": "boolean"}, "force": {"type": "boolean", "description": "deletes a branch that is merged nowhere"}, `+signed, ``),
	}
}
