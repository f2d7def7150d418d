package markdown

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// isPlain reports whether body, the ordinary Markdown of a message, obviously parses to the message, which
// saves parsing it: no line of its texts begins a message or code, the texts are not one quotation,
// nothing includes a file, and the code's language has no special meaning. False does not mean the
// opposite.
func isPlain(m domarkx.Message, body []byte) bool {
	if len(m.Extra) > 0 || m.Metadata != nil && (m.Metadata.Kind() != jsonvalue.Object || m.Metadata.Depth() > 100) {
		return false
	}
	// JSON has U+FFFD for what is not Unicode, and joins the halves of surrogate pairs.
	if hides(body) || !utf8.Valid(body) || bytes.Contains(body, []byte("\ufffd")) || bytes.Contains(body, []byte(`\ud`)) {
		return false
	}
	isAfterText := false // another text would become one with it
	for _, b := range m.Content {
		isText := b.Type == domarkx.TextBlock
		if len(b.Extra) > 0 || b.HasName || begins(b.Text) || isText && (isAfterText || !isPlainText(b.Text)) || !isText && !isPlainLanguage(b.Language) {
			return false
		}
		isAfterText = isText
	}
	return true
}

// isPlainText reports whether text can be written unchanged between blank lines, and ends without
// an open construct that a fence after it would not close.
func isPlainText(s string) bool {
	return s != "" && !strings.ContainsAny(s[:1], " \t\n>") && !strings.ContainsAny(s[len(s)-1:], " \t\n") && !strings.Contains(s, "```") && !strings.Contains(s, "~~~")
}

// isPlainLanguage reports whether an info string is a single word that makes the block ordinary code.
func isPlainLanguage(s string) bool {
	const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	return s != "" && strings.Trim(s, word) == "" && !slices.Contains([]string{sessionConfig, setupScript, workspaceConfig, messageMetadata, wholeMessage, wholeSnapshot}, s)
}
