package openpocket

import (
	"regexp"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// A piece is a part of a session after its header: a step, a final block, or text
// that is neither. offset is where it begins.
type piece struct {
	offset  int
	isStep  bool
	isFinal bool

	number, at, thought, action, result string // of a step
	status, endedAt, message            string // of a final block
	raw                                 string // text of any other piece

	ambiguous bool // it could be read in another way too
	cut       bool // a final block whose last line is unterminated
}

// header is the beginning of a session.
type header struct {
	values []string // by headerKeys
	task   string
	body   int // start of what follows
	cut    bool
}

// readHeader reads a session up to its steps, as far as possible.
func readHeader(s string) header {
	h := header{values: make([]string, len(headerKeys))}
	at := min(len(title), len(s))
	for i, key := range headerKeys {
		rest, ok := strings.CutPrefix(s[at:], "- "+key+": ")
		if !ok {
			h.cut, h.body = true, at
			return h
		}
		line, _, _ := strings.Cut(rest, "\n")
		h.values[i] = line
		at += len("- "+key+": ") + len(line)
		if i < len(headerKeys)-1 && at < len(s) {
			at++
		}
	}
	if !strings.HasPrefix(s[at:], taskStart) {
		h.cut, h.body = true, at
		return h
	}
	at += len(taskStart)
	first := -1
	for from := at; ; {
		i := strings.Index(s[from:], stepsStart)
		if i < 0 {
			break
		}
		i += from
		if first < 0 {
			first = i
		}
		after := s[i+len(stepsStart):]
		if after == "" || stepHead().MatchString(after) || finalHead().MatchString(after) {
			first = i
			break
		}
		from = i + 2
	}
	if first < 0 {
		h.cut, h.task, h.body = true, s[at:], len(s)
		return h
	}
	h.task, h.body = s[at:first], first+len(stepsStart)
	return h
}

var (
	stepHead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^### Step ([^\n\x00]*)\n\n- at: ([^\n\x00]*)\n- thought:\n```text\n")
	})
	finalHead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^## Final\n\n- status: ([^\n\x00]*)\n- ended_at: ([^\n\x00]*)\n\n### Message\n\n")
	})
	// NULs can stand where something was lost.
	headLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?m)(?:^|\x00)(### Step |## Final$)") })
)

// split divides what follows the header, which begins at offset, into pieces. A
// heading within a step's content is none of its own: the step must be whole before
// another can begin. It takes linear time for documents of the program.
func split(s string, offset int) []piece {
	heads := headsIn(s)
	var pieces []piece
	raw := func(from, to int) {
		if from < to {
			pieces = append(pieces, piece{offset: offset + from, raw: s[from:to]})
		}
	}
	at := 0 // what stands before is in pieces
	for i, head := range heads {
		if head < at {
			continue
		}
		p, end, ok := onePiece(s, heads[i:])
		if !ok {
			continue
		}
		raw(at, head)
		p.offset = offset + head
		pieces = append(pieces, p)
		at = end
	}
	raw(at, len(s))
	return pieces
}

// headsIn returns where a step or a final block may begin.
func headsIn(s string) []int {
	var heads []int
	for _, at := range headLine().FindAllStringSubmatchIndex(s, -1) {
		if rest := s[at[2]:]; stepHead().MatchString(rest) || finalHead().MatchString(rest) {
			heads = append(heads, at[2])
		}
	}
	return heads
}

// maxTries bounds how many headings are tried as the end of one step, so that a
// hostile document takes no quadratic time.
const maxTries = 64

// onePiece reads the piece that begins with the first head, and returns where it
// ends.
func onePiece(s string, heads []int) (piece, int, bool) {
	ends := append(heads[1:min(len(heads), maxTries):min(len(heads), maxTries)], len(s))
	if m := finalHead().FindStringSubmatch(s[heads[0]:]); m != nil {
		end := heads[0] + len(m[0])
		end += len(strings.TrimRight(s[end:ends[0]], "\x00"))
		text, whole := strings.CutSuffix(s[heads[0]+len(m[0]):end], "\n")
		return piece{isFinal: true, status: m[1], endedAt: m[2], message: text, cut: !whole}, end, true
	}
	m := stepHead().FindStringSubmatch(s[heads[0]:])
	start := heads[0] + len(m[0])
	for i, end := range ends {
		end = start + len(strings.TrimRight(s[start:end], "\x00"))
		if p, ok := step(s[start:end]); ok {
			p.number, p.at, p.ambiguous = m[1], m[2], p.ambiguous || i > 0
			return p, end, true
		}
	}
	// What follows may be cut off.
	end := start + strings.LastIndex(s[start:ends[0]], stepEnd) + len(stepEnd)
	if p, ok := step(s[start:max(start, min(end, ends[0]))]); ok {
		p.number, p.at = m[1], m[2]
		return p, end, true
	}
	return piece{}, 0, false
}

// step reads a step from its thought on. Where its content has the text between the
// sections, too, the first division with an action that is JSON is taken.
func step(s string) (piece, bool) {
	body, ok := strings.CutSuffix(s, stepEnd)
	if !ok {
		return piece{}, false
	}
	var found piece
	ways := 0
	for _, a := range indexAll(body, action) {
		rest := body[a+len(action):]
		for _, r := range indexAll(rest, result) {
			p := piece{isStep: true, thought: body[:a], action: rest[:r], result: rest[r+len(result):]}
			_, err := jsonvalue.ParseValue([]byte(p.action))
			if !found.isStep || err == nil && ways == 0 {
				found = p
			}
			if err == nil {
				ways++
			}
		}
	}
	found.ambiguous = ways > 1
	return found, found.isStep
}

// indexAll returns where a text stands, at most eight times.
func indexAll(s, part string) []int {
	var all []int
	for at := 0; len(all) < 8; {
		i := strings.Index(s[at:], part)
		if i < 0 {
			break
		}
		all = append(all, at+i)
		at += i + 1
	}
	return all
}

// appendPiece appends a piece as the program writes it.
func appendPiece(dst []byte, p piece) []byte {
	switch {
	case p.isStep:
		for _, part := range []string{stepStart, p.number, atStart, p.at, thought, p.thought, action, p.action, result, p.result, stepEnd} {
			dst = append(dst, part...)
		}
	case p.isFinal:
		for _, part := range []string{finalStart, p.status, endedAt, p.endedAt, message, p.message, "\n"} {
			dst = append(dst, part...)
		}
	default:
		dst = append(dst, p.raw...)
	}
	return dst
}

// headerText returns the beginning of a session as the program writes it.
func headerText(h header) []byte {
	dst := []byte(title)
	for i, key := range headerKeys {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = append(dst, "- "+key+": "+h.values[i]...)
	}
	return append(dst, taskStart+h.task+stepsStart...)
}
