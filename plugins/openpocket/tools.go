package openpocket

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	format "github.com/domarkx/domarkx/format/openpocket"
)

// A tool is a tool of this plugin, in addition to those of package directory.
type tool struct {
	name        string
	description string
	properties  string // of its arguments, JSON; all have the argument at
	required    string
	run         func(r *resource, ctx context.Context, a arguments) (jsonvalue.Value, error)
}

const (
	at      = `"at": {"type": "string", "description": "when it was, RFC 3339 with an offset; names and local times follow the offset; now unless given"}`
	session = `"session": {"type": "string", "minLength": 1, "description": "id or path of a session; the newest unless given"}`
)

var tools = []tool{
	{"start_session", "Begins the document of a session, and returns its id and path.", `
"task": {"type": "string"},
"model_profile": {"type": "string", "pattern": "^[^\r\n]*$"},
"model_name": {"type": "string", "pattern": "^[^\r\n]*$"},
`, `"task"`, (*resource).startSession},

	{"append_step", "Appends a step to the document of a session, and returns its number.", `
` + session + `,
"step": {"type": "integer", "minimum": 0, "description": "its number; the next unless given"},
"thought": {"type": "string"},
"action": {"type": "object"},
"result": {"type": "string"},
`, `"action", "result"`, (*resource).appendStep},

	{"finish_session", "Appends the end to the document of a session.", `
` + session + `,
"status": {"enum": ["SUCCESS", "FAILED"]},
"message": {"type": "string"},
`, `"status", "message"`, (*resource).finishSession},

	{"append_memory", "Appends what came of a task to the memory of the day.", `
"model_profile": {"type": "string", "pattern": "^[^\r\n]*$"},
"ok": {"type": "boolean", "description": "whether it was done; else give status"},
"status": {"enum": ["OK", "FAIL"]},
"task": {"type": "string"},
"result": {"type": "string"},
`, `"model_profile", "task", "result"`, (*resource).appendMemory},

	{"save_screenshot", "Saves a picture of a step, and removes the oldest ones where there are too many.", `
` + session + `,
"step": {"type": "integer", "minimum": 0},
"app": {"type": "string", "description": "the current app"},
"png": {"type": "string", "minLength": 1, "description": "Base64"},
`, `"step", "png"`, (*resource).saveScreenshot},

	{"run_script", "Runs a Bash script, and keeps it with its output.", `
"script": {"type": "string"},
"timeout": {"type": "number", "exclusiveMinimum": 0, "description": "seconds"},
"run_id": {"type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$", "description": "a date and time with six hexadecimal digits unless given"},
"duration_ms": {"type": "integer", "minimum": 0, "description": "what the record says of its duration; 0 unless given"},
`, `"script"`, (*resource).runScript},

	{"store_artifact", "Stores what somebody gave with an approval: a file, or JSON.", `
"request_id": {"type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$"},
"mime": {"type": "string", "description": "media type; application/json for json"},
"base64": {"type": "string"},
"json": {"type": "object", "description": "instead of base64; of kind text or qr_text with value, geo with lat and lon, or any other"},
`, `"request_id"`, (*resource).storeArtifact},
}

// arguments are the arguments of a call, which match the schema.
type arguments struct{ jsonvalue.Value }

func (a arguments) text(name string) string {
	v, _ := a.Get(name)
	return format.WellFormed(v.Text())
}

func (a arguments) has(name string) bool {
	_, ok := a.Get(name)
	return ok
}

func invalid(format string, args ...any) error {
	return domarkx.NewToolError(domarkx.CodeInvalid, format, args...)
}
