package engine

import (
	"bufio"
	"bytes"

	"github.com/domarkx/domarkx"
)

// snapshotDocument writes the JSON object of the specification, one message at a time. Unknown
// members of the header follow the conversation.
func snapshotDocument(w *bufio.Writer, header domarkx.Header, n int, message func(k int) error) error {
	extra := header.Extra
	header.Extra = nil
	head := header.Value().AppendJSON(nil, "", "  ")
	w.Write(bytes.TrimSuffix(head, []byte("\n}")))
	w.WriteString(",\n  \"conversation\": [")
	for k := range n {
		if k > 0 {
			w.WriteByte(',')
		}
		w.WriteString("\n    ")
		if err := message(k); err != nil {
			return err
		}
	}
	if n > 0 {
		w.WriteString("\n  ")
	}
	w.WriteByte(']')
	for _, m := range extra {
		w.WriteString(",\n  " + domarkx.StringValue(m.Name).JSON() + ": ")
		w.Write(m.Value.AppendJSON(nil, "  ", "  "))
	}
	_, err := w.WriteString("\n}\n")
	return err
}

// conversationJSON returns a message with the indentation that it has in the document.
func conversationJSON(msg domarkx.Message) []byte { return msg.Value().AppendJSON(nil, "    ", "  ") }
