package html

import (
	"bytes"
	"fmt"
)

// A Part is some messages of a session, for a page of somebody else.
type Part struct {
	Title    string
	Header   []byte // the title, and the sums of these messages
	Prompts  []byte // their table
	Messages []byte
}

// Render returns messages from to before to of a session.
func Render(s Session, from, to int) (Part, error) {
	w := newWriter(s)
	var head, prompts, body bytes.Buffer
	for k := from; k < to; k++ {
		if _, err := w.message(&body, k, 0); err != nil {
			return Part{}, fmt.Errorf("message %d: %w", k, err)
		}
	}
	title := w.title()
	w.header(&head, title)
	writePrompts(&prompts, w.prompts, "", len(w.prompts) <= 15)
	return Part{title, head.Bytes(), prompts.Bytes(), body.Bytes()}, nil
}

// Escape appends a text so that it is text in HTML, with nothing hidden in it.
func Escape(dst *bytes.Buffer, s string) { escape(dst, clean(s)) }

// Line returns at most n characters of the first line of a text that has one, and "…" if there is more.
func Line(s string, n int) string { return plain(clean(cut(s, n))) }

// WriteCode writes code, coloured if it is a diff.
func WriteCode(dst *bytes.Buffer, code string) { writeCode(dst, "", code) }

// WriteTime writes a time, given in Unix seconds.
func WriteTime(dst *bytes.Buffer, unix int64) { writeTime(dst, unix) }
