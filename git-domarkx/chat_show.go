package main

import (
	"errors"
	"strings"

	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

func (t *talk) show(e chat.Event) {
	if n, ok := e.(provider.Notice); ok {
		t.endLine()
		t.inv.say("%s", string(n))
		return
	}
	switch {
	case t.command.JSON:
		if object := eventObject(e); object != nil {
			t.wrote(errors.Join(t.inv.jsonLine(object), t.inv.out.Flush()))
		}
	case t.inv.out.tty:
		t.display(e)
	}
}

func (t *talk) wrote(err error) { t.broken = errors.Join(t.broken, err) }

// display shows an event on a terminal.
func (t *talk) display(e chat.Event) {
	paint := t.inv.color()
	switch e := e.(type) {
	case provider.TextDelta:
		t.write(displayed(string(e)))
	case provider.ThoughtDelta:
		t.write(paint(dim, displayed(string(e))))
	case chat.CallEvent:
		t.endLine()
		t.write(callLine(paint, visibleLine(e.Resource+" "+e.Tool), e.Arguments.JSON(), t.inv.out.width()*4))
	case chat.ResultEvent:
		t.endLine()
		result, _ := transcript.ResultOf(e.Outcome.Block())
		t.write(paint(dim, "  "+shortLine(resultLine(&result), t.inv.out.width()-3)) + "\n")
	case chat.MessageEvent:
		t.endLine()
	}
}

func (t *talk) write(s string) {
	if s == "" {
		return
	}
	_, err := t.inv.out.WriteString(s)
	t.wrote(errors.Join(err, t.inv.out.Flush()))
	t.open = !strings.HasSuffix(strings.TrimSuffix(s, "\x1b[m"), "\n")
}

// endLine ends the line that the shown answer has begun, if any.
func (t *talk) endLine() {
	if t.open {
		t.write("\n")
	}
}

// callLine returns a line for a call of a tool, with the beginning of a text about it, in so many columns.
func callLine(paint func(style, string) string, tool, about string, columns int) string {
	line := paint(cyan, "> "+tool)
	if about != "" {
		line += " " + shortLine(about, columns)
	}
	return line + "\n"
}

// resultLine returns the text of a result for one line. r is nil if there is none.
func resultLine(r *transcript.Result) string {
	text := r.Status()
	if r == nil || r.Failed && r.Value.Text() == "" {
		return text
	}
	if r.Failed {
		text += ": "
	}
	return text + strings.TrimSpace(r.Sections()[0].Text)
}

// shortLine returns the beginning of a text as one line of so many columns.
func shortLine(s string, columns int) string {
	columns = max(columns, 20)
	part := s[:min(len(s), 8*columns)]
	line := visibleLine(oneLine(part))
	if len(part) < len(s) {
		line += "…"
	}
	return cut(line, columns)
}
