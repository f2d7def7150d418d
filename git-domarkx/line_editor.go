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

	"golang.org/x/term"
)

// errInterrupt means that the user pressed Ctrl-C instead of finishing a line.
var errInterrupt = errors.New("interrupted")

// A lineEditor reads lines from a terminal, with editing and history.
type lineEditor struct {
	in          *os.File
	out         io.Writer
	width       func() int
	terminal    *term.Terminal
	interrupted atomic.Bool
	history     recalled
}

func newLineEditor(inv *invocation) *lineEditor {
	e := &lineEditor{in: inv.in.(*os.File), out: inv.out.file, width: inv.out.width}
	e.reset()
	return e
}

// reset creates the terminal object anew. After Ctrl-C or Ctrl-D, the library's object
// always returns io.EOF.
func (e *lineEditor) reset() {
	e.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e, e.out}, "")
	e.terminal.History = &e.history
}

// Read returns typed bytes, and records Ctrl-C, which the terminal library does not
// distinguish from the end of the input.
func (e *lineEditor) Read(p []byte) (int, error) {
	n, err := e.in.Read(p)
	if bytes.IndexByte(p[:n], 3) >= 0 {
		e.interrupted.Store(true)
	}
	return n, err
}

// recall makes earlier lines available, the newest last.
func (e *lineEditor) recall(lines []string) {
	for _, line := range lines {
		e.history.add(line)
	}
}

// message reads a message: a line, and the next line as well if a line ends in "\" or is
// pasted together with the next. The error is errInterrupt for Ctrl-C and io.EOF for
// Ctrl-D.
func (e *lineEditor) message(ctx context.Context) (string, error) {
	var lines []string
	for {
		prompt := "> "
		if len(lines) > 0 {
			prompt = "… "
		}
		line, err := e.line(ctx, prompt, true)
		pasted := errors.Is(err, term.ErrPasteIndicator)
		if err != nil && !pasted {
			return "", err
		}
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
	if errors.Is(err, term.ErrPasteIndicator) {
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
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		line, err := e.terminal.ReadLine()
		done <- result{line, err}
	}()
	select {
	case r := <-done:
		if errors.Is(r.err, io.EOF) {
			fmt.Fprint(e.out, "\r\n")
			e.reset()
			if e.interrupted.Load() {
				return "", errInterrupt
			}
		}
		return r.line, r.err
	case <-ctx.Done():
		fmt.Fprint(e.out, "\r\n")
		return "", context.Cause(ctx)
	}
}

// recalled is the history of a line editor. It contains whole messages, which the editor
// adds.
type recalled struct{ lines []string }

// Add implements [term.History]. It does nothing: message adds whole messages.
func (*recalled) Add(string) {}

// Len implements [term.History].
func (h *recalled) Len() int { return len(h.lines) }

// At implements [term.History]: 0 is the newest.
func (h *recalled) At(i int) string { return h.lines[len(h.lines)-1-i] }

func (h *recalled) add(text string) {
	line := strings.ReplaceAll(text, "\n", " ")
	if n := len(h.lines); strings.TrimSpace(line) != "" && (n == 0 || h.lines[n-1] != line) {
		h.lines = append(h.lines, line)
	}
}
