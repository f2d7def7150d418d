// Package placeholder writes placeholders in place of the secrets in texts. A table numbers the secrets of a history, so that a
// secret has the same placeholder in each text. It does no input or output.
package placeholder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// minLiteral is the minimum length in bytes of secrets that are replaced wherever they occur.
// Shorter ones are replaced only where a rule finds them.
const minLiteral = 8

// A Secret identifies the placeholder that replaces it.
type Secret struct {
	Rule   string
	Number int // in the order of first occurrence
}

// String returns the placeholder.
func (s Secret) String() string { return fmt.Sprintf("[REDACTED:%s:%d]", s.Rule, s.Number) }

// placeholders matches a placeholder.
var placeholders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[REDACTED:([A-Za-z0-9_.-]{1,100}):([1-9][0-9]{0,8})\]`)
})

// A Table lists the secrets of a history. A secret has the same number everywhere, whichever rule
// finds it.
type Table struct {
	// Recall, if it is not nil, returns the secret with a fingerprint that an earlier redaction replaced.
	Recall func(fingerprint string) (Secret, bool)

	scan   *secrets.Scanner // nil finds no secrets
	allow  func(fingerprint string) bool
	prints map[string]Secret // by fingerprint
	forms  map[string]string // spelling of a secret, or digest → replacement
	sorted []string          // the spellings, longest first
	last   int               // the greatest number in use
	added  int               // number of secrets that had no placeholder before
}

// New returns a table without secrets. It finds those that a scanner finds and allow, which may be nil, does not allow.
func New(scan *secrets.Scanner, allow func(fingerprint string) bool) *Table {
	return &Table{scan: scan, allow: allow, prints: map[string]Secret{}, forms: map[string]string{}}
}

// New returns a table without secrets. It finds all that the scanner of t finds.
func (t *Table) New() *Table { return New(t.scan, nil) }

// IsEmpty reports whether the table has no secrets and gets none, so that no text needs to be read.
func (t *Table) IsEmpty() bool { return t.scan == nil }

// Secrets returns the secrets of the table by their fingerprints. The caller does not change them.
func (t *Table) Secrets() map[string]Secret { return t.prints }

// Added returns how many secrets had no placeholder before.
func (t *Table) Added() int { return t.added }

// Note adds the secrets in a text to the table.
func (t *Table) Note(text []byte, isJSON bool) {
	for _, f := range t.findings(text, isJSON) {
		t.secret(f, string(text[f.Start:f.End]))
	}
}

// secret returns the secret that was found with a spelling, which it adds to the table.
func (t *Table) secret(f secrets.Finding, raw string) Secret {
	s, ok := t.prints[f.Fingerprint]
	forms := spellings(raw)
	for i := 0; i < len(forms) && !ok; i++ {
		s, ok = Parse(t.forms[forms[i]])
	}
	if !ok && t.Recall != nil {
		s, ok = t.Recall(f.Fingerprint)
	}
	if !ok {
		t.last++
		t.added++
		s = Secret{f.Rule, t.last}
	}
	t.prints[f.Fingerprint] = s
	for _, form := range forms {
		if _, ok := t.forms[form]; !ok && len(form) >= minLiteral {
			t.Replace(form, s.String())
		}
	}
	return s
}

// Adopt adds a secret whose placeholder is known from a redacted history.
func (t *Table) Adopt(p Pair) {
	s, ok := Parse(p.placeholder)
	if !ok {
		return
	}
	t.Reserve(s.Number)
	if was, ok := t.prints[p.print]; p.print != "" && (!ok || s.Number < was.Number) {
		t.prints[p.print] = s
	}
	for _, form := range spellings(p.raw) {
		was, ok := Parse(t.forms[form])
		if len(form) >= minLiteral && (!ok || s.Number < was.Number) {
			t.Replace(form, s.String())
		}
	}
}

// Reserve records that the numbers up to one are used.
func (t *Table) Reserve(number int) { t.last = max(t.last, number) }

// ReserveIn records that the numbers of the placeholders in a text are used.
func (t *Table) ReserveIn(text []byte) {
	for _, m := range placeholders().FindAllSubmatch(text, -1) {
		if n, err := strconv.Atoi(string(m[2])); err == nil {
			t.Reserve(n)
		}
	}
}

// Replace adds a text and its replacement.
func (t *Table) Replace(from, to string) {
	t.forms[from] = to
	t.sorted = nil
}

func (t *Table) literals() []string {
	if t.sorted == nil && len(t.forms) > 0 {
		t.sorted = slices.SortedFunc(maps.Keys(t.forms), func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	}
	return t.sorted
}

func (t *Table) findings(text []byte, isJSON bool) []secrets.Finding {
	var all []secrets.Finding
	if t.IsEmpty() {
		return nil
	}
	if isJSON {
		all = t.scan.File("", text)
	} else {
		all = t.scan.Text(text)
	}
	return slices.DeleteFunc(all, func(f secrets.Finding) bool {
		return t.allow != nil && t.allow(f.Fingerprint) || placeholders().Match(text[f.Start:f.End])
	})
}

// A span is a part of a text to replace.
type span struct {
	start, end int
	with       string
	print      string // the fingerprint, if a rule found the span
}

// HasSecrets reports whether [Table.Redact] may change a text.
func (t *Table) HasSecrets(text []byte) bool {
	return len(t.forms) > 0 || len(t.findings(text, true)) > 0
}

// Redact returns a text without the secrets of the table and those that the scanner finds, and whether it changed.
func (t *Table) Redact(text []byte, isJSON bool) ([]byte, bool) {
	var spans []span
	for _, f := range t.findings(text, isJSON) {
		s, ok := t.prints[f.Fingerprint]
		if !ok { // not noted before, as in content that is not stored yet
			s = t.secret(f, string(text[f.Start:f.End]))
		}
		spans = append(spans, span{start: f.Start, end: f.End, with: s.String()})
	}
	return apply(text, append(spans, t.occurrences(text, isJSON)...))
}

// Literally returns a text without the known secrets, even where no rule finds them.
func (t *Table) Literally(text []byte, isJSON bool) ([]byte, bool) {
	return apply(text, t.occurrences(text, isJSON))
}

// Places returns where the known secrets are in a text, as pairs of offsets.
func (t *Table) Places(text []byte) (places [][2]int) {
	for _, s := range t.occurrences(text, false) {
		places = append(places, [2]int{s.start, s.end})
	}
	return places
}

// occurrences returns the spans of the known secrets in a text. In JSON, it returns only those
// inside of strings.
func (t *Table) occurrences(text []byte, isJSON bool) []span {
	var spans []span
	for _, form := range t.literals() {
		for at := 0; ; {
			i := bytes.Index(text[at:], []byte(form))
			if i < 0 {
				break
			}
			spans = append(spans, span{start: at + i, end: at + i + len(form), with: t.forms[form]})
			at += i + len(form)
		}
	}
	if len(spans) == 0 || !isJSON || !isLinesOfJSON(text) {
		return spans
	}
	inside := make([]int, len(text)+1) // the number of the string that each byte is in; negative outside of strings
	number, in := 0, false
	for i := 0; i < len(text); i++ {
		inside[i] = -1
		if in && text[i] != '"' {
			inside[i] = number
		}
		switch {
		case in && text[i] == '\\' && i+1 < len(text):
			i++
			inside[i] = number
		case text[i] == '"':
			in = !in
			number++
		}
	}
	return slices.DeleteFunc(spans, func(s span) bool { return inside[s.start] < 0 || inside[s.start] != inside[s.end-1] })
}

func isLinesOfJSON(data []byte) bool {
	if json.Valid(data) {
		return true
	}
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !json.Valid(line) {
			return false
		}
	}
	return true
}

// apply replaces spans in a text. Overlapping spans are replaced together, by the replacement of
// the span that begins first; of several, the longest.
func apply(text []byte, spans []span) ([]byte, bool) {
	if len(spans) == 0 {
		return text, false
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	out := make([]byte, 0, len(text))
	at := 0
	for _, s := range joined(spans) {
		out = append(append(out, text[at:s.start]...), s.with...)
		at = s.end
	}
	return append(out, text[at:]...), true
}

// joined joins overlapping spans, which are sorted by their start.
func joined(spans []span) []span {
	all := spans[:0]
	for _, s := range spans {
		if n := len(all); n > 0 && s.start < all[n-1].end {
			all[n-1].end = max(all[n-1].end, s.end)
			continue
		}
		all = append(all, s)
	}
	return all
}

// Line is like Redact for a line that may be cut off, such as the subject of a commit: it also
// replaces the beginning of a secret before an ellipsis.
func (t *Table) Line(text string) string {
	out, _ := t.Redact([]byte(text), false)
	const least = 6 // minimum length in bytes of a beginning to replace
	for _, mark := range []string{"…", "..."} {
		head, ok := strings.CutSuffix(string(out), mark)
		if !ok {
			continue
		}
		for _, form := range t.literals() {
			for n := min(len(form)-1, len(head)); n >= least; n-- {
				if strings.HasSuffix(head, form[:n]) {
					return head[:len(head)-n] + t.forms[form] + mark
				}
			}
		}
	}
	return string(out)
}

// spellings returns the spellings of a secret: as it is, in JSON, and in JSON inside of a JSON
// string.
func spellings(raw string) []string {
	plain := raw
	for range 2 {
		var text string
		if !strings.Contains(plain, `\`) || json.Unmarshal([]byte(`"`+plain+`"`), &text) != nil {
			break
		}
		plain = text
	}
	forms := []string{raw}
	for form, last := plain, ""; len(forms) < 4 && form != last; form, last = escaped(form), form {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

func escaped(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// Parse returns the secret that a placeholder stands for; ok is false for another text.
func Parse(text string) (s Secret, ok bool) {
	m := placeholders().FindStringSubmatch(text)
	if m == nil || m[0] != text {
		return Secret{}, false
	}
	n, err := strconv.Atoi(m[2])
	return Secret{m[1], n}, err == nil
}

// Names returns a text with the names of rules, such as redacted-github-pat, in place of placeholders.
func Names(text []byte) string { return string(placeholders().ReplaceAll(text, []byte("redacted-$1"))) }
