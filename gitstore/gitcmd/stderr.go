package gitcmd

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"
)

// maxStderr is how much of git's stderr is kept, in bytes: its end, which contains the reason
// of a failure.
const maxStderr = 16 << 10

// A tail keeps the last bytes that are written to it.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	if len(p) >= maxStderr {
		t.kept = append(t.kept[:0], p[len(p)-maxStderr:]...)
		return len(p), nil
	}
	if over := len(t.kept) + len(p) - maxStderr; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	t.kept = append(t.kept, p...)
	return len(p), nil
}

// text returns the kept text without progress lines and control characters, which a remote
// host could send to a terminal.
func (t *tail) text() string {
	var lines []string
	for line := range bytes.Lines(t.kept) {
		line = bytes.TrimRight(line, "\r\n")
		if i := bytes.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:] // progress output overwrites its line
		}
		text := strings.Map(func(c rune) rune {
			if c != '\t' && unicode.IsControl(c) {
				return -1
			}
			return c
		}, strings.ToValidUTF8(string(line), "\uFFFD"))
		lines = append(lines, strings.TrimRight(text, " "))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

var errTooMuch = errors.New("git wrote more than 256 MiB")

// A limitedWriter returns an error once too much is written to it.
type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if len(p) > l.left {
		return 0, errTooMuch
	}
	l.left -= len(p)
	return l.w.Write(p)
}

// A lineWriter calls visit with each line that is written to it.
type lineWriter struct {
	visit func(line []byte) error
	rest  []byte // the beginning of the next line
	err   error  // of visit
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for w.err == nil {
		line, rest, ok := bytes.Cut(w.rest, []byte("\n"))
		if !ok {
			break
		}
		w.rest, w.err = rest, w.visit(line)
	}
	return len(p), w.err
}
