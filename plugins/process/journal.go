package process

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Limits for a program's standard error.
const (
	maxLog       = 1 << 20 // bytes in the log, of each process
	maxTold      = 20      // lines shown to the user, of each process
	maxToldLine  = 500     // bytes of a line
	maxLogLine   = 64 << 10
	maxLastWords = 1 << 10 // bytes in an error
)

// A Journal reads a program's standard error, redacts it, and writes it to a file. It passes the
// first lines to the user, and keeps the end for an error message.
type Journal struct {
	path   string // of the log, "" for none
	tell   func(line string)
	redact func(text string) string
	told   int
	log    *os.File
	left   int // bytes that still fit into the log
	done   chan struct{}

	mu   sync.Mutex
	last []byte // the end of the complete lines
	line []byte // the last line, still incomplete
}

// Follow reads a program's standard error until its end. It writes no log if path is "" or cannot be written, and shows
// no lines to the user if tell is nil.
func Follow(from io.Reader, path string, tell func(line string), redact func(text string) string) *Journal {
	j := &Journal{path: path, tell: tell, redact: redact, left: maxLog, done: make(chan struct{})}
	go j.follow(from)
	return j
}

// Done returns a channel that is closed at the end of the standard error.
func (j *Journal) Done() <-chan struct{} { return j.done }

func (j *Journal) follow(from io.Reader) {
	defer close(j.done)
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && j.log == nil && j.path != "" {
			j.log, _ = os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
			if j.log == nil {
				j.path = ""
			}
		}
		j.split(buffer[:n])
		if err != nil {
			break
		}
	}
	if len(j.line) > 0 {
		j.take("")
	}
	if j.log != nil {
		j.log.Close()
	}
}

// split takes each complete line. It drops what exceeds maxLogLine in a line.
func (j *Journal) split(data []byte) {
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		j.mu.Lock()
		j.line = append(j.line, line[:min(len(line), maxLogLine-len(j.line))]...)
		j.mu.Unlock()
		if data = rest; whole {
			j.take("\n")
		}
	}
}

// take redacts, keeps and shows the last line, which ends with end.
func (j *Journal) take(end string) {
	j.mu.Lock()
	text := j.text()
	j.line = j.line[:0]
	j.last = append(j.last, text+end...)
	j.last = j.last[max(0, len(j.last)-maxLastWords):]
	j.mu.Unlock()
	if j.log != nil && j.left > 0 {
		written := (text + end)[:min(len(text)+len(end), j.left)]
		_, _ = j.log.WriteString(written)
		j.left -= len(written)
	}
	text = strings.TrimSpace(text[:min(len(text), maxToldLine)])
	if text == "" || j.tell == nil || j.told == maxTold {
		return
	}
	j.told++
	if j.told == maxTold {
		text += " (there is more, see " + j.path + ")"
	}
	j.tell(printable(text))
}

// text returns the last line, redacted.
func (j *Journal) text() string {
	text := j.redact(string(j.line))
	if len(j.line) == maxLogLine {
		text = text[:min(len(text), maxLogLine/2)] // half a secret at the end is not recognized
	}
	return text
}

// LastWords returns the end of the output so far.
func (j *Journal) LastWords() string {
	j.mu.Lock()
	words := string(j.last) + j.text()
	j.mu.Unlock()
	words = words[max(0, len(words)-maxLastWords):]
	return printable(strings.TrimSpace(strings.ToValidUTF8(words, "")))
}

// printable returns a text without control characters.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}
