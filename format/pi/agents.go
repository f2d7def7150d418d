package pi

import (
	"bytes"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
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

func isOne(s string, of ...string) bool { return slices.Contains(of, s) }

// agents is asked in this order: the first that fits.
var agents = []agent{
	{"Goose", func(v domarkx.Value) bool {
		return transcript.Has(v, "working_dir", "message_count") || transcript.Has(v, "description", "message_count", "total_tokens")
	}},
	{"Droid", func(v domarkx.Value) bool {
		return transcript.Text(v, keyType) == "session_start" && transcript.Has(v, keyID, "title")
	}},
	{"Amp", func(v domarkx.Value) bool {
		return len(transcript.Text(v, keyID)) > 2 && transcript.Text(v, keyID)[:2] == "T-" && transcript.Has(v, "v", "messages")
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
	case isOne(transcript.Text(first, keyRole), "user", "model") && transcript.Has(first, "parts"), transcript.Has(first, "sessionId", "messageId", keyMessage):
		return "Gemini" // its checkpoints and logs
	case transcript.Has(first, "ts") && isOne(transcript.Text(first, keyType), "say", "ask"):
		return "Cline"
	}
	return ""
}
