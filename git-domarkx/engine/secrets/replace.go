package secrets

import (
	"bytes"
	"fmt"
	"io"
)

// A Replacer replaces secrets by [REDACTED:RULE:N], where N is the order of the secret's first occurrence. So
// a document that grew has the same beginning.
type Replacer struct {
	scanner *Scanner
	numbers map[string]int // by fingerprint
	allowed func(fingerprint string) bool
}

// NewReplacer returns a replacer that leaves allowed secrets alone.
func NewReplacer(s *Scanner, allowed func(fingerprint string) bool) *Replacer {
	return &Replacer{scanner: s, numbers: map[string]int{}, allowed: allowed}
}

// Secrets returns how many different secrets were replaced.
func (r *Replacer) Secrets() int { return len(r.numbers) }

// Bytes returns text, or JSON, without its secrets. The metadata of images are left as they are.
func (r *Replacer) Bytes(content []byte) []byte {
	if imageType(content) != "" {
		return content
	}
	var b bytes.Buffer
	at := 0
	for _, f := range r.scanner.File("", content) {
		if r.allowed != nil && r.allowed(f.Fingerprint) {
			continue
		}
		n := r.numbers[f.Fingerprint]
		if n == 0 {
			n = len(r.numbers) + 1
			r.numbers[f.Fingerprint] = n
		}
		b.Write(content[at:f.Start])
		fmt.Fprintf(&b, "[REDACTED:%s:%d]", f.Rule, n)
		at = f.End
	}
	if at == 0 {
		return content
	}
	b.Write(content[at:])
	return b.Bytes()
}

// Copy copies text or JSON without its secrets, in parts that end with a line, and returns how many bytes it wrote.
func (r *Replacer) Copy(w io.Writer, content io.Reader) (written int64, err error) {
	const partSize = 8 << 20
	buffer := make([]byte, 0, partSize)
	for {
		n, err := io.ReadFull(content, buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return written, err
		}
		data := buffer
		if i := bytes.LastIndexByte(data, '\n'); !end && i >= 0 {
			data = data[:i+1]
		}
		n, err = w.Write(r.Bytes(data))
		if written += int64(n); err != nil || end {
			return written, err
		}
		buffer = buffer[:copy(buffer, buffer[len(data):])]
	}
}
