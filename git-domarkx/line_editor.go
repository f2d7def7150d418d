package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/term"
)

// errInterrupt means that the user pressed Ctrl-C instead of finishing a line.
var errInterrupt = errors.New("interrupted")

// mostTyped is the number of characters after which the terminal library drops typed characters, but no pasted ones.
const mostTyped = 4096

var errLongLine = fmt.Errorf("a line has more than %d characters, so the message was not sent; end a line with \"\\\" to continue it on the next", mostTyped-1)

// A lineEditor reads lines from a terminal, with editing and history.
type lineEditor struct {
	in          *os.File
	out         io.Writer
	width       func() int
	terminal    *term.Terminal
	interrupted atomic.Bool
	history     recalled

	typed   []byte // read from in, but not yet by the terminal
	recent  []byte // the last bytes that the terminal read
	pasting bool   // these bytes are inside a bracketed paste
}

func newLineEditor(inv *invocation) *lineEditor {
	e := &lineEditor{in: inv.in.(*os.File), out: inv.out.file, width: inv.out.width}
	e.reset()
	return e
}

// reset creates the terminal object anew. After Ctrl-C or Ctrl-D, the library's object always returns io.EOF.
func (e *lineEditor) reset() {
	e.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e, e.out}, "")
	e.terminal.History = &e.history
}

// Read returns typed bytes, at most up to a line end. It records two things that the terminal library
// does not report: Ctrl-C, which looks to its caller like the end of the input, and whether a line
// ends inside a paste. The library reports only whether the whole line was pasted.
func (e *lineEditor) Read(p []byte) (int, error) {
	if len(e.typed) == 0 {
		part := make([]byte, 256)
		n, err := e.in.Read(part)
		if n == 0 {
			return 0, err
		}
		e.typed = part[:n]
	}
	end := len(e.typed)
	if i := bytes.IndexAny(e.typed, "\r\n"); i >= 0 {
		if end = i + 1; bytes.HasPrefix(e.typed[i:], []byte("\r\n")) {
			end++
		}
	}
	n := copy(p, e.typed[:end])
	e.typed = e.typed[n:]
	for _, c := range p[:n] {
		e.note(c)
	}
	return n, nil
}

// note updates the state of the input after a byte.
func (e *lineEditor) note(c byte) {
	const begin, end = "\x1b[200~", "\x1b[201~"
	e.recent = append(e.recent, c)
	e.recent = e.recent[max(0, len(e.recent)-len(begin)):]
	switch {
	case c == 3 && !e.pasting:
		e.interrupted.Store(true)
	case string(e.recent) == begin:
		e.pasting = true
	case string(e.recent) == end:
		e.pasting = false
	}
}

// message reads a message: a line, and the next line as well if a line ends in "\" or inside a paste. The error is errInterrupt
// for Ctrl-C, io.EOF for Ctrl-D, and errLongLine for a line that the terminal library cut.
func (e *lineEditor) message(ctx context.Context) (string, error) {
	var lines []string
	for {
		prompt := "> "
		if len(lines) > 0 {
			prompt = "… "
		}
		line, err := e.line(ctx, prompt, true)
		if err != nil {
			return "", err
		}
		if utf8.RuneCountInString(line) == mostTyped {
			return "", errLongLine
		}
		pasted := e.pasting
		rest, more := strings.CutSuffix(line, `\`)
		lines = append(lines, rest)
		if !more && !pasted {
			text := strings.Join(lines, "\n")
			e.history.add(text)
			return text, nil
		}
		if pasted && more {
			lines[len(lines)-1] = line
		}
	}
}

// question reads the answer to a question, in lower case. Ctrl-D counts as an empty answer.
func (e *lineEditor) question(ctx context.Context, prompt string) (string, error) {
	line, err := e.line(ctx, prompt, false)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.ToLower(strings.TrimSpace(line)), err
}

func (e *lineEditor) line(ctx context.Context, prompt string, paste bool) (string, error) {
	before, err := term.MakeRaw(int(e.in.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(e.in.Fd()), before) }()
	if err := e.terminal.SetSize(e.width(), 1<<10); err != nil {
		return "", err
	}
	e.terminal.SetPrompt(prompt)
	e.terminal.SetBracketedPasteMode(paste)
	defer e.terminal.SetBracketedPasteMode(false)
	e.interrupted.Store(false)
	line, err := await(ctx, func() (string, error) {
		line, err := e.terminal.ReadLine()
		if errors.Is(err, term.ErrPasteIndicator) {
			err = nil
		}
		return line, err
	})
	switch {
	case ctx.Err() != nil:
		fmt.Fprint(e.out, "\r\n")
		return "", context.Cause(ctx)
	case errors.Is(err, io.EOF):
		fmt.Fprint(e.out, "\r\n")
		e.reset()
		if e.interrupted.Load() {
			return "", errInterrupt
		}
	}
	return line, err
}

// recalled is the history of a line editor. It contains whole messages, which the editor adds.
type recalled struct{ lines []string }

// Add implements [term.History]. It does nothing: message adds whole messages.
func (*recalled) Add(string) {}

// Len implements [term.History].
func (h *recalled) Len() int { return len(h.lines) }

// At implements [term.History]: 0 is the newest.
func (h *recalled) At(i int) string { return h.lines[len(h.lines)-1-i] }

func (h *recalled) add(text string) {
	line := strings.ReplaceAll(text, "\n", " ")
	if strings.ContainsFunc(line, func(r rune) bool { return unsafeOnTerminal(r) && r != '\t' }) {
		return // the terminal library shows lines as they are
	}
	if n := len(h.lines); strings.TrimSpace(line) != "" && (n == 0 || h.lines[n-1] != line) {
		h.lines = append(h.lines, line)
	}
}
