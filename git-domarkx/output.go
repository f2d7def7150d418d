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
