package main

import (
	"bufio"
	"io"
	"os"

	"golang.org/x/term"
)

// output is standard output, where a command prints its result.
type output struct {
	*bufio.Writer
	file  *os.File // nil if the output is not a file
	tty   bool
	pager *pager // nil when there is none
}

func newOutput(w io.Writer) *output {
	o := &output{Writer: bufio.NewWriterSize(w, 1<<16)}
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

func (o *output) close() error {
	err := o.Flush()
	if o.pager != nil {
		return o.pager.close(err)
	}
	return err
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
