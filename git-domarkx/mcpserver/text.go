package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// cut returns at most most bytes of the text from offset on, and the offset at which the rest
// begins; 0 if nothing remains.
func cut(text []byte, offset, most int) (part string, next int, err error) {
	if offset < 0 || offset > len(text) {
		return "", 0, fmt.Errorf("offset %d is not in the text, which has %d bytes", offset, len(text))
	}
	rest := text[offset:]
	if len(rest) <= most {
		return strings.ToValidUTF8(string(rest), "\uFFFD"), 0, nil
	}
	end := most
	for end > most-utf8.UTFMax && end > 0 && !utf8.RuneStart(rest[end]) {
		end--
	}
	return strings.ToValidUTF8(string(rest[:end]), "\uFFFD"), offset + end, nil
}

// encode returns a value as JSON.
func encode(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}

// date returns a time in Unix seconds as people and programs read it; "" for none.
func date(unix int64) string {
	if unix == 0 {
		return ""
	}
	return time.Unix(unix, 0).UTC().Format(time.RFC3339)
}
