package pi

import (
	"bytes"
	"slices"

	"github.com/domarkx/domarkx"
)

// agentOf returns the other agent whose transcripts begin like head, with first as the first JSON
// object; "" if it is unknown. It relies on the publicly known file formats of these agents.
func agentOf(head []byte, first domarkx.Value) string {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(bom)), " \t\r\n")
	if len(head) == 0 || head[0] == '[' {
		return agentOfArray(head)
	}
	if len(first.Members()) == 0 && head[0] == '{' { // one object on several lines
		first, _ = domarkx.ParsePartial(head)
	}
	for _, a := range agents {
		if a.is(first) {
			return a.name
		}
	}
	return ""
}

type agent struct {
	name string
	is   func(first domarkx.Value) bool
}

// hasAll reports whether an object has all members of these names.
func hasAll(v domarkx.Value, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !has(v, name) })
}

func isOne(s string, of ...string) bool { return slices.Contains(of, s) }

// agents is asked in this order: the first that fits.
var agents = []agent{
	{"Goose", func(v domarkx.Value) bool {
		return hasAll(v, "working_dir", "message_count") || hasAll(v, "description", "message_count", "total_tokens")
	}},
	{"Droid", func(v domarkx.Value) bool {
		return text(v, keyType) == "session_start" && hasAll(v, keyID, "title")
	}},
	{"Amp", func(v domarkx.Value) bool {
		return len(text(v, keyID)) > 2 && text(v, keyID)[:2] == "T-" && hasAll(v, "v", "messages")
	}},
}

// agentOfArray is agentOf for files that are one array, as are checkpoints and logs of
// Gemini and the messages of Cline.
func agentOfArray(head []byte) string {
	v, _ := domarkx.ParsePartial(head)
	if len(v.Items()) == 0 {
		return ""
	}
	first := v.Items()[0]
	switch {
	case isOne(text(first, keyRole), "user", "model") && has(first, "parts"), hasAll(first, "sessionId", "messageId", keyMessage):
		return "Gemini" // its checkpoints and logs
	case has(first, "ts") && isOne(text(first, keyType), "say", "ask"):
		return "Cline"
	}
	return ""
}
