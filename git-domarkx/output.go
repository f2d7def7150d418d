package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/term"
)

// output is standard output, where a command prints its result.
type output struct {
	*bufio.Writer
	to    io.Writer
	file  *os.File // nil if the output is not a file
	tty   bool
	pager *pager // nil when there is none
}

func newOutput(w io.Writer) *output {
	o := &output{Writer: bufio.NewWriterSize(w, 1<<16), to: w}
	o.file, _ = w.(*os.File)
	o.tty = isTerminal(w)
	return o
}

// width returns the terminal's width in columns.
func (o *output) width() int {
	if o.file != nil {
		if w, _, err := term.GetSize(int(o.file.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 80
}

// height returns the terminal's height in lines, or 0 if it is not known.
func (o *output) height() int {
	if o.file == nil {
		return 0
	}
	_, h, err := term.GetSize(int(o.file.Fd()))
	if err != nil {
		return 0
	}
	return h
}

// document returns a writer for a document. It writes the exact bytes, but on a terminal
// it escapes what could control the terminal.
func (o *output) document() io.WriteCloser {
	if o.tty {
		return &visibleWriter{w: o}
	}
	return exact{o}
}

type exact struct{ io.Writer }

func (exact) Close() error { return nil }

// failed returns the first error of writing, after which nothing is written any more.
func (o *output) failed() error {
	_, err := o.Write(nil)
	return err
}

// close ends the output, and waits for the pager. What follows goes to the terminal.
func (o *output) close() error {
	err := o.Flush()
	if o.pager != nil {
		err = o.pager.close(err)
		o.pager = nil
		o.Reset(o.to)
	}
	return err
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// pathOption holds the options of commands that print one path.
type pathOption struct{ rowOption[pathRow] }

type pathRow struct {
	Path pathField `json:"path" head:"PATH" doc:"the directory or file"`
}

func (o pathOption) printPath(inv *invocation, path string) error {
	return o.print(inv, pathRow{pathField(path)})
}

// escapeControls escapes the characters that could control a terminal and that JSON
// allows unescaped. In valid JSON, these occur only in strings.
func escapeControls(data []byte) []byte {
	if !bytes.ContainsFunc(data, unsafeInJSON) {
		return data
	}
	var escaped []byte
	for _, r := range string(data) {
		if unsafeInJSON(r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		} else {
			escaped = utf8.AppendRune(escaped, r)
		}
	}
	return escaped
}

// unsafeInJSON reports whether r is DEL, a C1 control or a character that reorders text.
// JSON encoders must escape all other control characters.
func unsafeInJSON(r rune) bool { return r >= 0x7f && unsafeOnTerminal(r) }

// A style is a colour or weight of terminal text (ECMA-48, SGR).
type style string

// The styles.
const (
	plain style = ""
	bold  style = "\x1b[1m"
	dim   style = "\x1b[2m" // thoughts, results, and what is less important
	red   style = "\x1b[31m"
	green style = "\x1b[32m"
	cyan  style = "\x1b[36m"
	match style = "\x1b[1;31m" // as git grep
)

// color returns a function that applies a style to text, or leaves the text unchanged if colours are off. The first of these
// decides: --color, NO_COLOR (https://no-color.org), Git's color.domarkx and color.ui, whether the output is a terminal.
func (inv *invocation) color() func(style, string) string {
	if inv.colored == nil {
		on := inv.wantsColor()
		inv.colored = &on
	}
	if !*inv.colored {
		return func(_ style, s string) string { return s }
	}
	return func(st style, s string) string {
		if st == plain || s == "" {
			return s
		}
		return string(st) + s + "\x1b[m"
	}
}

func (inv *invocation) wantsColor() bool {
	switch {
	case inv.opts.Color != "auto":
		return inv.opts.Color == "always"
	case inv.getenv("NO_COLOR") != "":
		return false
	}
	auto := inv.out.tty && inv.getenv("TERM") != "dumb"
	for _, key := range []string{"color.domarkx", "color.ui"} {
		switch value, _ := inv.config(key); value {
		case "always":
			return true
		case "false", "never", "no", "off", "0":
			return false
		case "auto", "true", "yes", "on", "1":
			return auto
		}
	}
	return auto
}
