package codec

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// formatVersion is the version of the storage format, in the trailer Domarkx-Format.
const formatVersion = "1"

// Trailers of the commit messages of both snapshots and workspace versions.
const (
	trailerFormat    = "Domarkx-Format"
	trailerNumber    = "Domarkx-Number"
	trailerOperation = "Domarkx-Operation"
	trailerReplaces  = "Domarkx-Replaces"
	trailerRedacted  = "Domarkx-Redacted"
)

// replaces writes the trailer of a commit that replaces another one; nothing for others.
func replaces(b *bytes.Buffer, r domarkx.Replacement) {
	if r.Replaces != "" {
		trailer(b, trailerReplaces, r.Replaces)
	}
}

// sameTexts writes the trailer of a commit that replaces another one only because versions expired. Earlier programs ignore it,
// as it follows what they know.
func sameTexts(b *bytes.Buffer, r domarkx.Replacement) {
	if r.SameTexts {
		trailer(b, trailerRedacted, "false")
	}
}

func trailer(b *bytes.Buffer, key, value string) { b.WriteString(key + ": " + value + "\n") }

// CleanSubject makes a subject a single line of valid UTF-8 that is not empty.
func CleanSubject(subject, operation string) string {
	for _, s := range []string{subject, operation, "snapshot"} {
		s = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(s, "\ufffd"))
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}

// trailers are the trailers of a commit message. err is the first invalid value.
type trailers struct {
	values map[string]string
	err    error
}

// decodeTrailers decodes a commit message. It returns the error foreign for messages of other programs.
func decodeTrailers(message []byte, foreign error) (subject string, t trailers, err error) {
	subject, rest, ok := strings.Cut(string(message), "\n\n")
	if !ok {
		return "", t, fmt.Errorf("%w: no trailers", foreign)
	}
	t.values = map[string]string{}
	for line := range strings.Lines(rest) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if _, twice := t.values[key]; !ok || twice {
			return "", t, fmt.Errorf("%w: line %q in the trailers", domarkx.ErrCorrupt, line)
		}
		t.values[key] = value
	}
	switch format, ok := t.values[trailerFormat]; {
	case !ok:
		return "", t, fmt.Errorf("%w: no trailer %s", foreign, trailerFormat)
	case format != formatVersion:
		return "", t, fmt.Errorf("storage format %q: %w, this program knows %s; a newer one may know it", format, domarkx.ErrUnsupported, formatVersion)
	}
	return strings.ReplaceAll(subject, "\n", " "), t, nil
}

func (t *trailers) number(key string) int64 {
	text := t.values[key]
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		t.fail(key, "a number")
		return 0
	}
	return n
}

// maxNumber is the maximum number of a commit in a history: more than any history has, and the number
// of the next commit does not overflow.
const maxNumber = 1<<53 - 1

// sequence returns the number of a commit in its history.
func (t *trailers) sequence() int {
	n := t.number(trailerNumber)
	if n < 1 || n > maxNumber {
		t.fail(trailerNumber, "a number from 1 to "+strconv.Itoa(maxNumber))
		return 0
	}
	return int(n)
}

func (t *trailers) text(key string) string {
	v, err := jsonvalue.ParseValue([]byte(t.values[key]))
	if err != nil || v.Kind() != jsonvalue.String {
		t.fail(key, "a JSON string")
	}
	return v.Text()
}

// replacement returns what the commit replaces.
func (t *trailers) replacement() domarkx.Replacement {
	id, ok := t.values[trailerReplaces]
	if ok && !oid.IsHex(id) {
		t.fail(trailerReplaces, "a full object id")
	}
	value, same := t.values[trailerRedacted]
	if same && (value != "false" || id == "") {
		t.fail(trailerRedacted, "false, after "+trailerReplaces)
	}
	return domarkx.Replacement{Replaces: id, SameTexts: same}
}

// optional returns the value of a trailer that parse returns; nil without such a trailer.
func optional[T any](t *trailers, key, expected string, parse func(text string) *T) *T {
	text, ok := t.values[key]
	if !ok {
		return nil
	}
	value := parse(text)
	if value == nil {
		t.fail(key, expected)
	}
	return value
}

func (t *trailers) fail(key, expected string) {
	if t.err == nil {
		t.err = fmt.Errorf("%w: trailer %s is %q, expected %s", domarkx.ErrCorrupt, key, t.values[key], expected)
	}
}
