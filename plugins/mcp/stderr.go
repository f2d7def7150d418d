package mcp

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// logName is the file with what the program wrote to its standard error in its last run.
const logName = "log"

// Limits of the stored part of a program's standard error, in bytes.
const (
	maxLog       = 1 << 20
	maxTail      = 64 << 10 // more than lastWords shows, so that no half of a secret remains
	maxLastWords = 1 << 10
)

// A stderr keeps the end of the standard error of a program, and logs the beginning.
type stderr struct {
	redact func(string) string
	done   chan struct{}

	mu   sync.Mutex
	tail []byte
}

// followStderr reads until the end. Without a log the rest still works.
func followStderr(from io.Reader, log string, redact func(string) string) *stderr {
	s := &stderr{redact: redact, done: make(chan struct{})}
	go s.follow(from, log)
	return s
}

func (s *stderr) follow(from io.Reader, log string) {
	defer close(s.done)
	var head strings.Builder
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if left := maxLog - head.Len(); left > 0 {
			head.Write(buffer[:min(n, left)])
		}
		s.mu.Lock()
		s.tail = append(s.tail, buffer[:n]...)
		if len(s.tail) > 2*maxTail {
			s.tail = append(s.tail[:0], s.tail[len(s.tail)-maxTail:]...)
		}
		s.mu.Unlock()
		if err != nil {
			break
		}
	}
	text := head.String()
	if head.Len() == maxLog { // half a secret at the end would not be recognised
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	if text != "" {
		_ = os.WriteFile(log, []byte(s.redact(text)), 0o600)
	}
}

// wait waits until the whole standard error was read, at most endGrace. The program must have
// ended.
func (s *stderr) wait() {
	select {
	case <-s.done:
	case <-time.After(endGrace):
	}
}

// lastWords returns the end of the output so far.
func (s *stderr) lastWords() string {
	s.mu.Lock()
	tail := string(s.tail)
	s.mu.Unlock()
	words := strings.TrimSpace(plainText(s.redact(tail)))
	if len(words) > maxLastWords {
		words = strings.ToValidUTF8(words[len(words)-maxLastWords:], "")
	}
	return words
}
