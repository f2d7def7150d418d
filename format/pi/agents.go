package pi

import (
	"bytes"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// agentOf returns the other agent whose transcripts begin like head, with first as the first JSON
// object; "" if it is unknown. It relies on the publicly known file formats of these agents.
func agentOf(head []byte, first jsonvalue.Value) string {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if len(head) > 0 && head[0] == '[' {
		return agentOfArray(head)
	}
	switch {
	case transcript.Has(first, "working_dir", "message_count"), transcript.Has(first, "description", "message_count", "total_tokens"):
		return "Goose"
	case transcript.Text(first, "type") == "session_start" && transcript.Has(first, "id", "title"):
		return "Droid"
	case strings.HasPrefix(transcript.Text(first, "id"), "T-") && transcript.Has(first, "v", "messages"):
		return "Amp"
	}
	return ""
}

// agentOfArray is agentOf for files that are one array.
func agentOfArray(head []byte) string {
	v, _ := jsonvalue.ParsePartial(head)
	if len(v.Items()) == 0 {
		return ""
	}
	first := v.Items()[0]
	role, kind := transcript.Text(first, "role"), transcript.Text(first, "type")
	switch {
	case (role == "user" || role == "model") && transcript.Has(first, "parts"), transcript.Has(first, "sessionId", "messageId", "message"):
		return "Gemini" // its checkpoints and logs
	case transcript.Has(first, "ts") && (kind == "say" || kind == "ask"):
		return "Cline"
	}
	return ""
}
