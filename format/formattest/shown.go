package formattest

import (
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
)

// Shown returns the messages of a document, a short text each: text as it is, a call as
// "[ID TOOL ARGUMENTS]", a result as "-> VALUE" or "-> failed CODE MESSAGE", and other code as
// "LANGUAGE(CODE)".
func Shown(doc *domarkx.Document) []string {
	var all []string
	for _, m := range doc.Conversation {
		parts := []string{string(m.Role) + ":"}
		for _, b := range m.Content {
			parts = append(parts, shownBlock(b))
		}
		all = append(all, strings.Join(parts, " "))
	}
	return all
}

func shownBlock(b domarkx.Block) string {
	if b.Type == domarkx.TextBlock {
		return b.Text
	}
	if call, ok := transcript.CallOf(b); ok {
		return "[" + call.ID + " " + call.Tool + " " + call.Arguments.JSON() + "]"
	}
	if r, ok := transcript.ResultOf(b); ok && r.Failed {
		return "-> failed " + r.Code + " " + r.Value.JSON()
	} else if ok {
		return "-> " + r.Value.JSON()
	}
	return b.Language + "(" + b.Text + ")"
}
