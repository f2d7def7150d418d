package openpocket

import (
	"strings"
	"unicode/utf16"

	"github.com/domarkx/domarkx/format/wtf8"
)

// A Session is the beginning of a session document.
type Session struct {
	ID           string // a date and time such as 20260218-130000
	StartedAt    string // a time as the program spells it
	ModelProfile string // one line, as ModelName is
	ModelName    string
	Task         string
}

// A Step is one step of a session.
type Step struct {
	Number  string // in decimal
	At      string
	Thought string // "" for none
	Action  string // JSON
	Result  string
}

// A Final is the end of a session.
type Final struct {
	Status  string // SUCCESS or FAILED
	EndedAt string
	Message string
}

// Begin returns the document of a session without steps, byte for byte like the program. escaped
// reports that lines of the task, which would read as structure, are indented by a blank.
func Begin(s Session) (document []byte, escaped bool) {
	h := header{values: []string{s.ID, s.StartedAt, s.ModelProfile, s.ModelName}, task: s.Task}
	out := headerText(h)
	if readsAsHeader(string(out), h) {
		return out, false
	}
	h.task, _ = blanked(h.task, "## Steps")
	return headerText(h), true
}

// LastStep returns the number of a document's last step as spelled, or "".
func LastStep(document []byte) string {
	last := ""
	s := string(document)
	for _, p := range split(s[readHeader(s).body:], 0) {
		if p.isStep {
			last = p.number
		}
	}
	return last
}

// NextStep returns the text to append to a document for a step, byte for byte like the program.
// escaped reports that lines, which would read as another step or an end, are indented by a blank.
func NextStep(document []byte, s Step) (block []byte, escaped bool) {
	if s.Thought == "" {
		s.Thought = noThought
	}
	return next(document, piece{isStep: true, number: s.Number, at: s.At, thought: s.Thought, action: s.Action, result: s.Result})
}

// NextFinal returns the text to append to a document for its end, like [NextStep].
func NextFinal(document []byte, f Final) (block []byte, escaped bool) {
	return next(document, piece{isFinal: true, status: f.Status, endedAt: f.EndedAt, message: f.Message})
}

func next(document []byte, p piece) ([]byte, bool) {
	// If the document was cut off, first end its last line.
	start := ""
	if len(document) > 0 && document[len(document)-1] != '\n' {
		start = "\n"
	}
	if s := string(document) + start; readsAs(s, p) {
		return appendPiece([]byte(start), p), false
	}
	for _, text := range []*string{&p.thought, &p.action, &p.result} {
		*text, _ = blanked(*text, "```", "### Step ", "## Final")
	}
	p.message, _ = blanked(p.message, "### Step ", "## Final")
	return appendPiece([]byte(start), p), true
}

// readsAs reports whether a document with an appended piece reads as the former document followed by
// that piece, and cannot be read in any other way.
func readsAs(document string, p piece) bool {
	h := readHeader(document)
	longer := string(appendPiece([]byte(document), p))
	if h.cut || !readsAsHeader(longer, h) {
		return false
	}
	written := split(document[h.body:], 0)
	for i := range written {
		written[i].offset, written[i].ambiguous = 0, true // they stay as they are
	}
	return areSame(append(written, p), split(longer[h.body:], 0))
}

// blanked puts a space before those lines of a text that begin like a boundary, also after a NUL; see [headLine].
func blanked(s string, boundaries ...string) (string, bool) {
	out := "\n" + s
	for _, b := range boundaries {
		out = strings.NewReplacer("\n"+b, "\n "+b, "\x00"+b, "\x00 "+b).Replace(out)
	}
	return out[1:], out[1:] != s
}

// WellFormed returns a text as Node.js writes it: U+FFFD replaces each byte that is not valid UTF-8,
// and each lone surrogate.
func WellFormed(s string) string { return string(utf16.Decode(wtf8.Units(s))) }
