package plugins

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// shortSecret is the length in bytes below which a value is replaced only where it
// stands as a word: shorter ones occur in any text.
const shortSecret = 4

// A redactor replaces the values of environment variables by ${NAME}.
type redactor struct{ forms []secretForm } // longest first

// A secretForm is one way in which the value of a variable may occur in a text.
type secretForm struct{ text, shown string }

// add makes the redactor replace the value of a variable, its parts when it is a URL or
// a list of key=value, and the forms that libraries and programs print.
func (r *redactor) add(name, value string) {
	var texts []string
	each := func(parts ...string) { texts = append(texts, parts...) }
	each(value)
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		password, _ := u.User.Password()
		each(u.User.Username(), password, u.Host, u.Hostname(), strings.Trim(u.Path, "/"))
	}
	for field := range strings.FieldsSeq(value) {
		if _, v, ok := strings.Cut(field, "="); ok {
			each(strings.Trim(v, `'"`))
		}
	}
	if strings.Contains(value, "\n") {
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= shortSecret {
				each(line)
			}
		}
	}
	for _, text := range slices.Clone(texts) {
		quoted := strconv.Quote(text)
		json := jsonvalue.StringValue(text).JSON()
		each(quoted[1:len(quoted)-1], json[1:len(json)-1], url.PathEscape(text), url.QueryEscape(text))
		if plain, err := url.PathUnescape(text); err == nil {
			each(plain)
		}
	}
	for _, text := range texts {
		if text != "" && !slices.ContainsFunc(r.forms, func(f secretForm) bool { return f.text == text }) {
			r.forms = append(r.forms, secretForm{text, "${" + name + "}"})
		}
	}
	slices.SortStableFunc(r.forms, func(a, b secretForm) int { return cmp.Compare(len(b.text), len(a.text)) })
}

// redact returns text with ${NAME} in place of the values.
func (r *redactor) redact(text string) string {
	if r == nil || !slices.ContainsFunc(r.forms, func(f secretForm) bool { return strings.Contains(text, f.text) }) {
		return text
	}
	var b strings.Builder
next:
	for i := 0; i < len(text); {
		for _, f := range r.forms {
			if strings.HasPrefix(text[i:], f.text) && (len(f.text) >= shortSecret || isWord(text, i, i+len(f.text))) {
				b.WriteString(f.shown)
				i += len(f.text)
				continue next
			}
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

// isWord reports whether text[from:to] is not part of a longer word.
func isWord(text string, from, to int) bool {
	letter := func(c byte) bool {
		return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
	}
	return (from == 0 || !letter(text[from-1]) || !letter(text[from])) && (to == len(text) || !letter(text[to]) || !letter(text[to-1]))
}

// error returns err without the values in its text.
func (r *redactor) error(err error) error {
	if err == nil || r.redact(err.Error()) == err.Error() {
		return err
	}
	return &redactedError{err, r}
}

// A redactedError is an error of a plugin whose text contained the value of a variable.
type redactedError struct {
	err error
	by  *redactor
}

// Error returns the text with ${NAME} in place of the values.
func (e *redactedError) Error() string { return e.by.redact(e.err.Error()) }

// Is reports whether the plugin's error is target.
func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }

// As finds a [*domarkx.ToolError] and redacts its message. It does not return other wrapped
// errors, since their texts contain the values.
func (e *redactedError) As(target any) bool {
	to, ok := target.(**domarkx.ToolError)
	var tool *domarkx.ToolError
	if !ok || !errors.As(e.err, &tool) {
		return false
	}
	shown := *tool
	shown.Message = e.by.redact(tool.Message)
	*to = &shown
	return true
}
