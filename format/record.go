package format

import (
	"github.com/domarkx/domarkx"
)

// records are the resources of calls that an agent made and recorded: the names of the formats of
// agents' transcripts.
var records = map[string]bool{"claude-code": true, "codex": true, "copilot": true, "cursor": true, "gemini": true, "opencode": true, "pi": true, "qwen": true}

// IsRecord reports whether the text of a tool-call block is the record of a call that an agent made.
// Nothing runs such a call, whatever the resources of a workspace are called.
func IsRecord(call string) bool {
	v, err := domarkx.ParseOutline([]byte(call), func(name string, kind domarkx.Kind) bool { return name == "arguments" })
	if err != nil {
		return false
	}
	resource, _ := v.Get("resource")
	return resource.Kind() == domarkx.String && records[resource.Text()]
}
