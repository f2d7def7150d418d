package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
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

// A secret identifies the placeholder that replaces it.
type secret struct {
	rule string
	n    int // number in the order of first occurrence
}

func (s secret) placeholder() string { return fmt.Sprintf("[REDACTED:%s:%d]", s.rule, s.n) }

// placeholders matches a placeholder.
var placeholders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[REDACTED:([A-Za-z0-9_.-]{1,100}):([1-9][0-9]{0,8})\]`)
})

// A table lists the secrets of a history. A secret has the same number everywhere, whichever rule
// finds it.
type table struct {
	scan   *secrets.Scanner // nil finds no secrets
	allow  func(fingerprint string) bool
	prints map[string]*secret // fingerprint → secret
	forms  map[string]string  // spelling of a secret, or digest → replacement
	sorted []string           // the spellings, longest first
	last   int                // the greatest number in use
	recall *memory            // the stored numbers of earlier redactions
	added  int                // number of secrets that had no placeholder before
}

func newTable(scan *secrets.Scanner, allow func(string) bool) *table {
	return &table{scan: scan, allow: allow, prints: map[string]*secret{}, forms: map[string]string{}}
}

// isEmpty reports whether the table has no secrets and gets none, so that no text needs to be read.
func (t *table) isEmpty() bool { return t.scan == nil }

// note adds the secrets in a text to the table.
func (t *table) note(text []byte, isJSON bool) {
	for _, f := range t.findings(text, isJSON) {
		raw := string(text[f.Start:f.End])
		s := t.prints[f.Fingerprint]
		if s == nil {
			s = t.known(raw)
		}
		if s == nil {
			s = t.recall.find(f.Fingerprint)
		}
		if s == nil {
			t.last++
			t.added++
			s = &secret{rule: f.Rule, n: t.last}
		}
		t.prints[f.Fingerprint] = s
		t.learn(raw, *s)
	}
}

// known returns the secret that is spelled raw, or nil.
func (t *table) known(raw string) *secret {
	for _, form := range spellings(raw) {
		if p, ok := t.forms[form]; ok {
			if s, ok := parsePlaceholder(p); ok {
				return &s
			}
		}
	}
	return nil
}

// learn adds the spellings of a secret. A spelling that is already in the table keeps its
// replacement.
func (t *table) learn(raw string, s secret) {
	for _, form := range spellings(raw) {
		if _, ok := t.forms[form]; !ok && len(form) >= minLiteral {
			t.replace(form, s.placeholder())
		}
	}
}

// seed adds a secret whose placeholder is known from a redacted history.
func (t *table) seed(l learned) {
	s, ok := parsePlaceholder(l.placeholder)
	if !ok {
		return
	}
	t.last = max(t.last, s.n)
	if was := t.prints[l.print]; l.print != "" && (was == nil || s.n < was.n) {
		t.prints[l.print] = &s
	}
	for _, form := range spellings(l.raw) {
		was, ok := parsePlaceholder(t.forms[form])
		if len(form) >= minLiteral && (!ok || s.n < was.n) {
			t.replace(form, s.placeholder())
		}
	}
}

// marks records that the numbers of the placeholders in a text are used.
func (t *table) marks(text []byte) {
	for _, m := range placeholders().FindAllSubmatch(text, -1) {
		if n, err := strconv.Atoi(string(m[2])); err == nil {
			t.last = max(t.last, n)
		}
	}
}

// replace adds a text and its replacement.
func (t *table) replace(from, to string) {
	t.forms[from] = to
	t.sorted = nil
}

func (t *table) literals() []string {
	if t.sorted == nil && len(t.forms) > 0 {
		for form := range t.forms {
			t.sorted = append(t.sorted, form)
		}
		slices.SortFunc(t.sorted, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	}
	return t.sorted
}

func (t *table) findings(text []byte, isJSON bool) []secrets.Finding {
	var all []secrets.Finding
	if t.isEmpty() {
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

// redact returns a text without the secrets of the table, and whether it changed.
func (t *table) redact(text []byte, isJSON bool) ([]byte, bool) {
	var spans []span
	for _, f := range t.findings(text, isJSON) {
		raw := string(text[f.Start:f.End])
		s := t.prints[f.Fingerprint]
		if s == nil {
			s = t.known(raw)
		}
		if s == nil { // not noted before, as in content that is not stored yet
			t.last++
			s = &secret{rule: f.Rule, n: t.last}
			t.prints[f.Fingerprint] = s
			t.learn(raw, *s)
		}
		spans = append(spans, span{start: f.Start, end: f.End, with: s.placeholder()})
	}
	return apply(text, append(spans, t.occurrences(text, isJSON)...))
}

// occurrences returns the spans of the known secrets in a text. In JSON, it returns only those
// inside of strings.
func (t *table) occurrences(text []byte, isJSON bool) []span {
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

// line is like redact for a line that may be cut off, such as the subject of a commit: it also
// replaces the beginning of a secret before an ellipsis.
func (t *table) line(text string) string {
	out, _ := t.redact([]byte(text), false)
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
	for form := plain; len(forms) < 4; form = escaped(form) {
		if slices.Contains(forms, form) && form != raw {
			break
		}
		if form != raw {
			forms = append(forms, form)
		}
		if escaped(form) == form {
			break
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

func parsePlaceholder(text string) (secret, bool) {
	m := placeholders().FindStringSubmatch(text)
	if m == nil || m[0] != text {
		return secret{}, false
	}
	n, err := strconv.Atoi(m[2])
	return secret{m[1], n}, err == nil
}
