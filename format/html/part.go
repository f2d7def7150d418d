package html

import (
	"bytes"
)

// A Part is a range of messages of a session, rendered for embedding in the caller's page.
type Part struct {
	Title    string
	Header   []byte // the title, and the sums of these messages
	Prompts  []byte // their table
	Messages []byte
}

// Render renders the messages of a session from index from up to, but excluding, to.
func Render(s Session, from, to int) (Part, error) {
	w := newWriter(s)
	body, err := w.messages(from, to)
	if err != nil {
		return Part{}, err
	}
	var head, prompts bytes.Buffer
	title := w.title()
	w.header(&head, title)
	writePrompts(&prompts, w.prompts, "", len(w.prompts) <= 15)
	return Part{title, head.Bytes(), prompts.Bytes(), body.Bytes()}, nil
}

// Escape appends a text, escaped for HTML. Control characters and other hidden characters become
// visible.
func Escape(dst *bytes.Buffer, s string) { escape(dst, clean(s)) }

// Line returns at most n characters of the first non-empty line of a text, followed by "…" if the text
// has more.
func Line(s string, n int) string { return plain(clean(cut(s, n))) }

// WriteTime writes a time, given in Unix seconds.
func WriteTime(dst *bytes.Buffer, unix int64) { writeTime(dst, unix) }
