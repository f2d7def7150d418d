package gitstore

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/domarkx/domarkx"
)

// formatVersion is the version of the storage format, in the trailer
// Domarkx-Format.
const formatVersion = "1"

// The trailers of a snapshot's commit message, in their order.
const (
	trailerFormat    = "Domarkx-Format"
	trailerNumber    = "Domarkx-Number"
	trailerMessages  = "Domarkx-Messages"
	trailerBytes     = "Domarkx-Bytes"
	trailerPreview   = "Domarkx-Preview"
	trailerOperation = "Domarkx-Operation"
)

// encodeMessage writes a commit message: the subject, a blank line, the trailers.
// Numbers stand bare; texts are JSON strings, so that none can forge a trailer.
func encodeMessage(info domarkx.Info) []byte {
	var b bytes.Buffer
	b.WriteString(cleanSubject(info.Subject, info.Operation) + "\n\n")
	line := func(key, value string) { b.WriteString(key + ": " + value + "\n") }
	line(trailerFormat, formatVersion)
	line(trailerNumber, strconv.Itoa(info.Number))
	line(trailerMessages, strconv.Itoa(info.Messages))
	line(trailerBytes, strconv.FormatInt(info.Bytes, 10))
	line(trailerPreview, domarkx.StringValue(info.Preview).JSON())
	line(trailerOperation, domarkx.StringValue(info.Operation).JSON())
	return b.Bytes()
}

// cleanSubject makes one line of a subject that is valid UTF-8 and not empty.
func cleanSubject(subject, operation string) string {
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

// decodeMessage reads the message of a snapshot's commit. Trailers that this
// version does not know may follow those it does.
func decodeMessage(message []byte) (domarkx.Info, error) {
	var info domarkx.Info
	subject, rest, ok := strings.Cut(string(message), "\n\n")
	if !ok {
		return info, fmt.Errorf("%w: no trailers", errNoSnapshot)
	}
	info.Subject = strings.ReplaceAll(subject, "\n", " ")
	trailers := map[string]string{}
	for line := range strings.Lines(rest) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if _, twice := trailers[key]; !ok || twice {
			return info, fmt.Errorf("%w: line %q in the trailers of a session snapshot", domarkx.ErrCorrupt, line)
		}
		trailers[key] = value
	}
	switch format, ok := trailers[trailerFormat]; {
	case !ok:
		return info, fmt.Errorf("%w: no trailer %s", errNoSnapshot, trailerFormat)
	case format != formatVersion:
		return info, fmt.Errorf("storage format %q: %w, this program knows %s; a newer one may know it", format, domarkx.ErrUnsupported, formatVersion)
	}
	var err error
	number := func(key string) (n int64) {
		if n, e := strconv.ParseInt(trailers[key], 10, 64); e == nil && n >= 0 && strconv.FormatInt(n, 10) == trailers[key] {
			return n
		}
		err = fmt.Errorf("%w: trailer %s is %q, expected a number", domarkx.ErrCorrupt, key, trailers[key])
		return 0
	}
	text := func(key string) string {
		v, e := domarkx.ParseValue([]byte(trailers[key]))
		if e != nil || v.Kind() != domarkx.String {
			err = fmt.Errorf("%w: trailer %s is %q, expected a JSON string", domarkx.ErrCorrupt, key, trailers[key])
		}
		return v.Text()
	}
	info.Number, info.Messages, info.Bytes = int(number(trailerNumber)), int(number(trailerMessages)), number(trailerBytes)
	info.Preview, info.Operation = text(trailerPreview), text(trailerOperation)
	return info, err
}
