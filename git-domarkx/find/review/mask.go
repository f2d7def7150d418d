package review

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// A mask replaces secrets as scan shows them.
type mask struct {
	scanner *secrets.Scanner
	allowed []string
}

func (m *Manager) newMask(ctx context.Context) (*mask, error) {
	scanner, err := m.Scans.Scanner(context.WithoutCancel(ctx)) // it keeps the first answer, also an error
	if err != nil {
		return nil, err
	}
	allowed, err := m.Scans.Allowed(ctx)
	return &mask{scanner, allowed}, err
}

// secrets returns what scan would report, without what the user allowed.
func (m *mask) secrets(found []secrets.Finding) []secrets.Finding {
	return slices.DeleteFunc(found, func(f secrets.Finding) bool { return f.Inside != "" || slices.Contains(m.allowed, f.Fingerprint) })
}

func (m *mask) text(s string) string {
	return secrets.Mask(s, m.secrets(m.scanner.Text([]byte(s))), 0)
}

// files masks the names and the lines of files. A secret is found in the whole file, as scan does.
func (m *mask) files(files []File, contents []sides) {
	for i := range files {
		f := &files[i]
		old, new := m.content(f.old, contents[i].old), m.content(f.new, contents[i].new)
		for k := range f.Hunks {
			h := &f.Hunks[k]
			m.hunk(h, old, new)
			if contents[i].old == nil || old.found != nil {
				h.withoutHeading()
			}
			if contents[i].old == nil { // it was not read: what the hunk shows of it is searched
				m.side(h, '-')
			}
			if contents[i].new == nil {
				m.side(h, '+')
			}
		}
		for k := range f.Header {
			f.Header[k] = m.text(f.Header[k])
		}
		f.Path, f.OldPath = m.text(f.Path), m.text(f.OldPath)
	}
}

// A masked is a content with secrets.
type masked struct {
	found  []secrets.Finding
	starts []int // offsets of the lines; nil without secrets
}

func (m *mask) content(name string, data []byte) masked {
	if len(data) == 0 {
		return masked{}
	}
	found := m.secrets(m.scanner.File(name, data))
	if len(found) == 0 {
		return masked{}
	}
	var starts []int
	at := 0
	for line := range bytes.Lines(data) {
		starts = append(starts, at)
		at += len(line)
	}
	return masked{found, starts}
}

// line masks line n, from 1.
func (c masked) line(n int, s string) string {
	if n < 1 || n > len(c.starts) {
		return s
	}
	offset := c.starts[n-1]
	first, _ := slices.BinarySearchFunc(c.found, offset, func(f secrets.Finding, at int) int {
		if f.End <= at {
			return -1
		}
		return 1
	})
	last := first
	for last < len(c.found) && c.found[last].Start < offset+len(s) {
		last++
	}
	return secrets.Mask(s, c.found[first:last], offset)
}

func (m *mask) hunk(h *Hunk, old, new masked) {
	before, after := h.oldStart, h.newStart
	for i, line := range h.Lines {
		if line == "" {
			continue
		}
		switch body := line[1:]; line[0] {
		case '+':
			line = "+" + new.line(after, body)
			after++
		case '-':
			line = "-" + old.line(before, body)
			before++
		case ' ':
			line = " " + new.line(after, body)
			before++
			after++
		}
		h.Lines[i] = line
	}
	h.Header = m.text(h.Header)
}

// withoutHeading drops the line that git found above a hunk: a rule does not recognise a part of a secret.
func (h *Hunk) withoutHeading() {
	if numbers, _, ok := strings.Cut(strings.TrimPrefix(h.Header, "@@ "), " @@"); ok {
		h.Header = "@@ " + numbers + " @@"
	}
}

// side masks the secrets in the lines of one side of a hunk.
func (m *mask) side(h *Hunk, side byte) {
	var text []byte
	var lines []int
	for i, line := range h.Lines {
		if s := sign(line); line != "" && (s == side || s == ' ') {
			text = append(append(text, line[1:]...), '\n')
			lines = append(lines, i)
		}
	}
	found := m.secrets(m.scanner.Text(text))
	if len(found) == 0 {
		return
	}
	offset := 0
	for _, i := range lines {
		body := h.Lines[i][1:]
		h.Lines[i] = h.Lines[i][:1] + secrets.Mask(body, found, offset)
		offset += len(body) + 1
	}
}
