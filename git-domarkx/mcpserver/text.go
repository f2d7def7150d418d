package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format"
)

// cut returns at most most bytes of the text from offset on, and the offset at which the rest begins; 0 if nothing remains.
func cut(text []byte, offset, most int) (part string, next int, err error) {
	if offset < 0 || offset > len(text) {
		return "", 0, fmt.Errorf("offset %d is not in the text, which has %d bytes", offset, len(text))
	}
	rest := text[offset:]
	if len(rest) <= most {
		return strings.ToValidUTF8(string(rest), "\uFFFD"), 0, nil
	}
	end := most - format.Partial(rest[:most])
	return strings.ToValidUTF8(string(rest[:end]), "\uFFFD"), offset + end, nil
}

// withoutNulls returns the arguments of a tool without those that are null: some models send each argument that a tool
// has. It returns anything but an object as it is.
func withoutNulls(arguments json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if !bytes.Contains(arguments, []byte("null")) || json.Unmarshal(arguments, &members) != nil || members == nil {
		return arguments
	}
	maps.DeleteFunc(members, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	data, err := json.Marshal(members)
	if err != nil {
		return arguments
	}
	return data
}

// date returns a time in Unix seconds as people and programs read it; "" for none.
func date(unix int64) string {
	if unix == 0 {
		return ""
	}
	return time.Unix(unix, 0).UTC().Format(time.RFC3339)
}

// maxError is the maximum number of bytes of an error's text.
const maxError = 2000

// short returns an error whose text has a limited size, because errors quote what clients send.
func short(err error) error {
	text := err.Error()
	if len(text) <= maxError {
		return err
	}
	return errors.New(strings.ToValidUTF8(text[:maxError/2], "") + " … " + strings.ToValidUTF8(text[len(text)-maxError/2:], ""))
}
