package format

import (
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// records are the names of the formats of agents' transcripts. Calls that an agent made and
// recorded have such a name as their resource.
var records = map[string]bool{"claude-code": true, "codex": true, "copilot": true, "cursor": true, "gemini": true, "opencode": true, "pi": true, "qwen": true}

// IsAgent reports whether calls with this resource are records of calls that an agent made.
func IsAgent(resource string) bool { return records[resource] }

// IsRecord reports whether the text of a tool-call block records a call that an agent made. Such a
// call must never run, whatever the resources of a workspace are called.
func IsRecord(call string) bool {
	v, err := jsonvalue.ParseOutline([]byte(call), func(name string, kind jsonvalue.Kind) bool { return name == "arguments" })
	if err != nil {
		return false
	}
	resource, _ := v.Get("resource")
	return resource.Kind() == jsonvalue.String && IsAgent(resource.Text())
}
