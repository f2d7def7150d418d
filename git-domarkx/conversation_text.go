package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rivo/uniseg"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// A conversationWriter writes messages for a terminal, with the parts that pages for a browser show.
type conversationWriter struct {
	out    io.Writer
	paint  func(style, string) string
	width  int
	unfold bool // show calls, results and thoughts in full
}

// writeConversation writes the messages of p for a terminal. The number of the first one is first.
func (inv *invocation) writeConversation(p html.Session, info domarkx.Info, first int, unfold bool) error {
	w := conversationWriter{inv.out, inv.color(), inv.out.width(), unfold}
	w.header(p, info)
	for n := range p.Messages.Len() {
		m, err := p.Messages.At(n)
		if err != nil {
			return fmt.Errorf("message %d: %w", first+n, err)
		}
		if w.message(first+n, m); inv.out.failed() != nil {
			break
		}
	}
	return inv.out.failed()
}

// header writes the title and the properties of a session.
func (w *conversationWriter) header(p html.Session, info domarkx.Info) {
	about := info.Described()
	parts := []string{p.Name, info.ID[:min(len(info.ID), 10)]}
	if about.Agent != "" {
		parts = append(parts, about.Agent)
	}
	parts = append(parts, counted(info.Messages, "message"))
	first, last := date(about.Started).person, date(about.Active).person
	if parts = append(parts, first); last != first {
		parts[len(parts)-1] += " – " + last
	}
	text := ""
	if about.Title != "" {
		text = w.wrapped(bold, about.Title)
	}
	fmt.Fprint(w.out, text, w.wrapped(dim, strings.Join(parts, "  ")))
}

// message writes message k.
func (w *conversationWriter) message(k int, m domarkx.WrittenMessage) {
	about := ""
	metadata := jsonvalue.Value{}
	if m.Metadata != nil {
		metadata = *m.Metadata
	}
	if model := transcript.Text(metadata, "model"); model != "" && m.Role == domarkx.Assistant {
		about += "  " + shortLine(model, w.width-40) // beside the number, the role and the time
	}
	if m.Date > 0 {
		about += "  " + time.Unix(m.Date, 0).Format("2006-01-02 15:04")
	}
	blocks := []string{w.paint(cyan, fmt.Sprintf("#%d", k)) + " " + w.paint(bold, string(m.Role)) + w.paint(dim, about) + "\n"}
	if transcript.Text(metadata, "conflict") != "" {
		blocks = append(blocks, w.wrapped(dim, "One of several texts of this message, which a merge left."))
	}
	calls := false // whether the last block is a call, which needs no blank line before the next one
	for _, part := range transcript.Divide(m.Message) {
		isCall := part.Call != nil || part.Result != nil
		text := w.part(part)
		if calls && isCall && !w.unfold {
			blocks[len(blocks)-1] += text
		} else {
			blocks = append(blocks, text)
		}
		calls = isCall
	}
	fmt.Fprint(w.out, "\n", strings.Join(blocks, "\n"))
}

// part returns a part of a message.
func (w *conversationWriter) part(p transcript.Part) string {
	switch {
	case p.Call != nil:
		return w.call(p.Call, p.Result)
	case p.Result != nil:
		return w.result(p.Result)
	case p.Thought && !w.unfold:
		return w.paint(dim, "thought: "+shortLine(p.Text, w.width-9)) + "\n"
	case p.Thought:
		return w.wrapped(dim, p.Text)
	}
	var pieces []string
	for _, piece := range mdtext.Pieces(p.Text) {
		if piece.Image != nil {
			pieces = append(pieces, w.image(*piece.Image))
		} else {
			pieces = append(pieces, w.wrapped(plain, piece.Text))
		}
	}
	return strings.Join(pieces, "\n")
}

// wrapped returns Markdown in lines of the terminal's width.
func (w *conversationWriter) wrapped(st style, text string) string {
	var b strings.Builder
	for _, line := range wrapMarkdown(displayed(strings.Trim(text, "\n")), w.width) {
		b.WriteString(w.paint(st, line) + "\n")
	}
	return b.String()
}

func (w *conversationWriter) image(i mdtext.Image) string {
	return w.paint(dim, fmt.Sprintf("[%s, %s bytes]", shortLine(i.Type, 40), grouped(len(i.Data)/4*3))) + "\n"
}

// call returns a call with its result.
func (w *conversationWriter) call(c *transcript.Call, r *transcript.Result) string {
	name := cut(visibleLine(c.Tool), w.width/2)
	line := callLine(w.paint, name, c.Brief(), w.width-uniseg.StringWidth(name)-3)
	if w.unfold {
		line += w.sections(c.Sections())
	}
	return line + w.result(r)
}

// result returns a result: its beginning on a line, or all of it. r is nil if there is none.
func (w *conversationWriter) result(r *transcript.Result) string {
	st := dim
	if r == nil || r.Failed {
		st = red
	}
	if r == nil || !w.unfold {
		return w.paint(st, "  "+shortLine(resultLine(r), w.width-2)) + "\n" + w.images(r)
	}
	label := "  result:"
	if r.Failed {
		label = "  " + shortLine(r.Status(), 40) + ":"
	}
	return w.paint(st, label) + "\n" + w.sections(r.Sections()) + w.images(r)
}

// images returns the images of a result.
func (w *conversationWriter) images(r *transcript.Result) string {
	var b strings.Builder
	if r != nil {
		for _, i := range r.Images {
			b.WriteString("  " + w.image(i))
		}
	}
	return b.String()
}

// sections returns the pieces of an unfolded call or result. Texts stay as they are.
func (w *conversationWriter) sections(all []transcript.Section) string {
	var b strings.Builder
	lines := func(st style, sign, text string) {
		for line := range strings.Lines(displayed(strings.TrimRight(text, "\n"))) {
			if line = sign + strings.TrimSuffix(line, "\n"); line != "" {
				line = "    " + w.paint(st, line)
			}
			b.WriteString(line + "\n")
		}
	}
	for _, s := range all {
		for _, m := range s.Fields {
			value := m.Value.Text()
			if m.Value.Kind() != jsonvalue.String {
				value = m.Value.JSON()
			}
			lines(plain, "", m.Name+": "+value)
		}
		if s.Label != "" {
			lines(dim, "", s.Label+":")
		}
		lines(plain, "", s.Text)
		if s.IsEdit {
			lines(red, "-", s.Old)
			lines(green, "+", s.New)
		}
	}
	return b.String()
}

// marks are the beginnings of a line in Markdown that do not belong to its text: indentation, quotes and the mark of a list item.
var marks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ ]*(?:>[ ]?)*(?:(?:[-*+]|[0-9]{1,9}[.)])[ ]+)?`) })

// fenceMark is the beginning of a line that opens or closes a fence around code.
var fenceMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^[ >]*(?:[-*+] +|[0-9]{1,9}[.)] +)?(`{3,}|~{3,})(.*)$")
})

// codeIndent is the indentation of code without a fence (CommonMark, section 4.4).
const codeIndent = 4

// wrapMarkdown returns the lines of a text in Markdown, at most a width in columns wide. Lines of code stay as they are. The
// lines into which a line is divided have the same quotes, and the indentation of its text.
func wrapMarkdown(text string, width int) (lines []string) {
	fence := ""            // of the code that the line is in
	blank, item := true, 0 // whether the line before was blank or code; the indentation of the text in the last list item
	for line := range strings.SplitSeq(text, "\n") {
		if m := fenceMark().FindStringSubmatch(line); fence != "" {
			if m != nil && strings.HasPrefix(m[1], fence) && strings.TrimSpace(m[2]) == "" {
				fence = ""
			}
			lines = append(lines, line)
			continue
		} else if m != nil && (m[1][0] == '~' || !strings.Contains(m[2], "`")) {
			fence = m[1]
			lines = append(lines, line)
			continue
		}
		plain := strings.TrimRight(withoutTabs(line), " ")
		if plain == "" {
			lines, blank = append(lines, ""), true
			continue
		}
		indent := len(plain) - len(strings.TrimLeft(plain, " "))
		if indent < item {
			item = 0
		}
		if blank && indent >= item+codeIndent {
			lines = append(lines, line)
			continue
		}
		mark := marks().FindString(plain)
		if trimmed := strings.TrimLeft(mark, " "); trimmed != "" && trimmed[0] != '>' {
			item = len(mark)
		}
		blank = false
		if len(mark) > width/2 {
			mark = ""
		}
		hang := strings.Map(func(r rune) rune {
			if r == '>' {
				return r
			}
			return ' '
		}, mark)
		for i, part := range wrap(plain[len(mark):], width-uniseg.StringWidth(mark)) {
			if i == 0 {
				lines = append(lines, mark+part)
			} else {
				lines = append(lines, hang+part)
			}
		}
	}
	return lines
}
