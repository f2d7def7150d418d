package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// isPlain reports whether the ordinary Markdown of a message obviously parses to the message, which
// saves parsing it: no line of its texts begins a message or code, the texts are not one quotation,
// nothing includes a file, and the code's language has no special meaning. False does not mean the
// opposite.
func isPlain(m domarkx.Message) bool {
	if len(m.Extra) > 0 || m.Metadata != nil && !isPlainMetadata(*m.Metadata) {
		return false
	}
	text := false // the block before is text, with which another would become one
	for i, b := range m.Content {
		if len(b.Extra) > 0 || b.HasName || !utf8.ValidString(b.Text) || strings.IndexByte(b.Text, '\r') >= 0 || strings.IndexByte(b.Text, 0) >= 0 {
			return false
		}
		switch b.Type {
		case domarkx.TextBlock:
			if text || !isPlainText(b.Text) {
				return false
			}
		case domarkx.CodeBlock:
			if begins(b.Text) || !isPlainLanguage(b.Language) || i == 0 && m.Metadata == nil && b.Language == messageMetadata {
				return false
			}
		default:
			return false
		}
		text = b.Type == domarkx.TextBlock
	}
	return true
}

// isPlainText reports whether text can be written unchanged between blank lines, and ends without
// an open construct that a fence after it would not close.
func isPlainText(s string) bool {
	switch {
	case s == "" || strings.IndexByte(" \t\n>", s[0]) >= 0 || strings.IndexByte(" \t\n", s[len(s)-1]) >= 0:
		return false
	case strings.Contains(s, "```") || strings.Contains(s, "~~~"):
		return false
	}
	return !begins(s)
}

// isWord reports whether a byte can be neither white space nor markup.
func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isPlainLanguage reports whether an info string is a single word that makes the block ordinary code.
func isPlainLanguage(s string) bool {
	switch s {
	case "", sessionConfig, setupScript, workspaceConfig, messageMetadata, wholeMessage, wholeSnapshot:
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isWord(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// isPlainMetadata reports whether metadata is unchanged after it is written as JSON and read again.
func isPlainMetadata(v jsonvalue.Value) bool {
	if v.Kind() != jsonvalue.Object || v.Depth() > 100 {
		return false
	}
	return isPlainValue(v)
}

func isPlainValue(v jsonvalue.Value) bool {
	switch v.Kind() {
	case jsonvalue.String:
		return utf8.ValidString(v.Text())
	case jsonvalue.Array:
		for _, item := range v.Items() {
			if !isPlainValue(item) {
				return false
			}
		}
	case jsonvalue.Object:
		for _, m := range v.Members() {
			if !utf8.ValidString(m.Name) || !isPlainValue(m.Value) {
				return false
			}
		}
	}
	return true
}
