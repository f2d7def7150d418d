package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// dim is the style of thoughts and results.
const dim style = "\x1b[2m"

func (t *talk) show(e chat.Event) {
	if n, ok := e.(chat.Notice); ok {
		t.endLine()
		if !t.inv.opts.Quiet {
			fmt.Fprintf(t.inv.err, "%s\n", visible(string(n)))
		}
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
	case chat.Text:
		t.write(displayed(string(e)))
	case chat.Thought:
		t.write(paint(dim, displayed(string(e))))
	case chat.CallEvent:
		t.endLine()
		t.write(paint(cyan, "> "+visibleLine(e.Resource+" "+e.Tool)) + " " + shortLine(e.Arguments.JSON(), t.inv.out.width()*4) + "\n")
	case chat.ResultEvent:
		t.endLine()
		t.write(paint(dim, "  "+shortLine(resultLine(e.CallResult), t.inv.out.width()-3)) + "\n")
	case chat.MessageEvent:
		t.endLine()
	}
}

// displayed returns text of a model, with escapes for characters that could control the
// terminal.
func displayed(s string) string {
	return escapeRunes(strings.ReplaceAll(s, "\r\n", "\n"), func(r rune) bool { return unsafeOnTerminal(r) && r != '\n' && r != '\t' })
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

// resultLine returns the outcome of a call, for one line.
func resultLine(r turns.CallResult) string {
	if !r.OK {
		return r.Code + ": " + r.Outcome.Message
	}
	for _, name := range []string{"output", "content"} {
		if v, ok := r.Result.Get(name); ok && v.Kind() == jsonvalue.String {
			return strings.TrimSpace(v.Text())
		}
	}
	return r.Result.JSON()
}

// shortLine returns the beginning of a text as one line of at most n characters.
func shortLine(s string, n int) string {
	line := []rune(visibleLine(s))
	if n = max(n, 20); len(line) > n {
		return string(line[:n-1]) + "…"
	}
	return string(line)
}
