package domarkx

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/domarkx/domarkx/format/wtf8"
)

// An Info describes a snapshot without its content.
type Info struct {
	Name     string // of the session
	ID       string // of the commit, in hexadecimal
	Number   int    // 1 + the greatest number of the parents
	Messages int
	Bytes    int64 // size of the document as Markdown
	Date     int64 // of the commit, in Unix seconds
	Subject  string
	Preview  string // see [Preview]
	// Operation is the command that created the snapshot: "import", "append", …
	Operation string
	Replacement
	// About is what the messages and the front matter say; nil if they were not read.
	About *About
}

// A Replacement says which snapshot or version a commit replaces, after a redaction or an expiry of workspace versions.
type Replacement struct {
	Replaces  string // the id that the commit had before the first of them; "" if it replaces none
	SameTexts bool   // it replaces that one only because versions expired
}

// Key returns the id that the commit with this id had before any redaction or expiry.
func (r Replacement) Key(id string) string { return cmp.Or(r.Replaces, id) }

// IsRedacted reports whether texts of the replaced commit may have changed.
func (r Replacement) IsRedacted() bool { return r.Replaces != "" && !r.SameTexts }

// Summary returns the summary of a session in the words of agent-chatter (its specification,
// section 6.1): the number of messages and the beginning of the first.
func (i Info) Summary() string {
	if i.Messages == 0 {
		return "Empty conversation"
	}
	return fmt.Sprintf("%d messages - \"%s\"", i.Messages, i.Preview)
}

// Preview returns the first 50 UTF-16 units of a message's text, followed by "..." if it is longer.
// The result is WTF-8, because the cut may split a surrogate pair.
func Preview(m Message) string {
	const limit = 50
	var b strings.Builder
	units := 0
	glue := m.Glue()
	for i, block := range m.Content {
		text := block.Text
		switch {
		case glue != nil:
			text = glue[i] + text
		case i > 0:
			text = "\n\n" + text
		}
		if glue != nil && i == len(m.Content)-1 {
			text += glue[i+1]
		}
		for len(text) > 0 {
			r, size := wtf8.DecodeRune(text)
			n := max(1, utf16.RuneLen(r))
			if units+n > limit {
				if units < limit {
					high, _ := utf16.EncodeRune(r)
					b.Write(wtf8.Append(nil, high))
				}
				return b.String() + "..."
			}
			b.Write(wtf8.Append(nil, r))
			units += n
			text = text[size:]
		}
	}
	return b.String()
}
