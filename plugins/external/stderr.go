package external

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
)

// What a program writes to its standard error is bounded by these.
const (
	maxLog       = 1 << 20 // bytes in the log, of each process
	maxTold      = 20      // lines that the user is told, of each process
	maxToldLine  = 500     // bytes of a line
	maxLastWords = 1 << 10 // bytes in an error
)

// A journal takes what a program writes to its standard error: into a file, to the
// user, and the end of it for an error.
type journal struct {
	path string // of the log, "" for none
	tell func(line string)
	last []byte
	line []byte
	told int
	done chan struct{}
}

// follow reads until the end, whatever comes.
func (j *journal) follow(r io.Reader) {
	defer close(j.done)
	var log *os.File
	left := maxLog
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		data := buffer[:n]
		j.last = append(j.last, data...)
		j.last = j.last[max(0, len(j.last)-maxLastWords):]
		j.lines(data)
		if log == nil && left > 0 && n > 0 && j.path != "" {
			// Without a log the rest still works.
			log, _ = os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		}
		if log != nil && left > 0 {
			_, _ = log.Write(data[:min(n, left)])
			left -= n
		}
		if err != nil {
			break
		}
	}
	j.lines([]byte("\n"))
	if log != nil {
		log.Close()
	}
}

// lines tells the user what is complete.
func (j *journal) lines(data []byte) {
	for len(data) > 0 && j.told < maxTold {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		j.line = append(j.line, line[:min(len(line), maxToldLine-len(j.line))]...)
		data = rest
		if !whole {
			return
		}
		if text := strings.TrimSpace(string(j.line)); text != "" && j.tell != nil {
			j.told++
			if j.told == maxTold {
				text += " (there is more, see " + j.path + ")"
			}
			j.tell(printable(text))
		}
		j.line = j.line[:0]
	}
}

// lastWords is the end of what was written, once all was read.
func (j *journal) lastWords() string {
	return printable(strings.TrimSpace(string(j.last)))
}

// printable is a text that does nothing to a terminal.
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
