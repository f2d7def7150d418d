package codec

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

var errLine = errors.New("not the one valid encoding")

var tails = [...]string{domarkx.TailLine: "", domarkx.TailCRLF: "crlf", domarkx.TailOpen: "open", domarkx.TailBlank: "blank"}

var digestEncoding = base64.RawURLEncoding.Strict()

// appendDigest appends the 43 characters of a digest, or "-" for content without own bytes.
func appendDigest(dst []byte, digest [32]byte) []byte {
	if digest == ([32]byte{}) {
		return append(dst, '-')
	}
	return digestEncoding.AppendEncode(dst, digest[:])
}

func parseDigest(s string) ([32]byte, error) {
	var digest [32]byte
	if s == "-" {
		return digest, nil
	}
	raw, err := digestEncoding.DecodeString(s)
	if err != nil || len(raw) != len(digest) {
		return digest, fmt.Errorf("digest %q: %w", s, errLine)
	}
	return [32]byte(raw), nil
}

// appendFlags appends the flags of a line of an entries or header file that differ from the defaults, each after a space. Both
// files have the same flags in the same fixed order.
func appendFlags(dst []byte, e *domarkx.Entry, after domarkx.ID) []byte {
	text := func(key, value string) {
		dst = append(dst, ' ')
		dst = append(dst, key...)
		dst = append(dst, '=')
		dst = append(dst, value...)
	}
	if e.After != after {
		text("after", e.After.String())
	}
	if e.Rev != (domarkx.Rev{}) {
		text("rev", e.Rev.String())
	}
	if len(e.Past) > 0 {
		text("past", joinRevs(e.Past))
	}
	if e.Link != "" {
		text("link", e.Link)
	}
	l := e.Layout
	if l.Tail != domarkx.TailLine {
		text("tail", tails[l.Tail])
	}
	if l.Fence != "" {
		text("fence", EscapeField(l.Fence))
	}
	if l.Tight {
		dst = append(dst, " tight"...)
	}
	if l.Span != 0 {
		text("span", strconv.Itoa(l.Span))
	}
	if l.Within != 0 {
		text("within", strconv.Itoa(l.Within))
	}
	if l.Includes != "" {
		text("includes", EscapeField(l.Includes))
	}
	return dst
}

// parseFlags accepts flags in any order: the caller encodes the line again and compares.
func parseFlags(e *domarkx.Entry, fields []string) error {
	for _, field := range fields {
		key, value, _ := strings.Cut(field, "=")
		var err error
		switch key {
		case "after":
			e.After, err = domarkx.ParseID(value)
		case "rev":
			e.Rev, err = domarkx.ParseRev(value)
		case "past":
			e.Past, err = splitRevs(value)
		case "link":
			e.Link = value
			if !oid.IsHex(value) {
				err = errLine
			}
		case "tail":
			err = errLine
			for i, name := range tails {
				if name == value && name != "" {
					e.Layout.Tail, err = domarkx.Tail(i), nil
				}
			}
		case "fence":
			e.Layout.Fence, err = UnescapeField(value)
		case "tight":
			e.Layout.Tight = true
		case "span":
			e.Layout.Span, err = strconv.Atoi(value)
		case "within":
			e.Layout.Within, err = strconv.Atoi(value)
		case "includes":
			e.Layout.Includes, err = UnescapeField(value)
		default:
			err = errLine
		}
		if err != nil {
			return fmt.Errorf("flag %q: %w", field, errLine)
		}
	}
	return nil
}

// checkLayout returns an error for a layout that cannot be encoded.
func checkLayout(l domarkx.Layout) error {
	if l.Size < 0 || l.Span < 0 || l.Within < 0 || int(l.Tail) >= len(tails) {
		return fmt.Errorf("layout %+v: %w", l, domarkx.ErrInvalid)
	}
	return nil
}

func joinRevs(revs []domarkx.Rev) string {
	parts := make([]string, len(revs))
	for i, r := range revs {
		parts[i] = r.String()
	}
	return strings.Join(parts, ",")
}

// splitRevs parses revisions, which must be in ascending order without duplicates.
func splitRevs(s string) ([]domarkx.Rev, error) {
	parts := strings.Split(s, ",")
	revs := make([]domarkx.Rev, len(parts))
	for i, part := range parts {
		var err error
		if revs[i], err = domarkx.ParseRev(part); err != nil {
			return nil, err
		}
		if i > 0 && parts[i-1] >= part {
			return nil, errLine
		}
	}
	return revs, nil
}

const upperHex = "0123456789ABCDEF"

// EscapeField escapes a text so that it contains no spaces, line ends or control characters: bytes that
// are not visible ASCII, and '%', become %XX.
func EscapeField(s string) string {
	return Escape(s, func(i int) bool { return s[i] > ' ' && s[i] < 0x7f && s[i] != '%' })
}

// Escape writes each byte as %XX for which plain returns false.
func Escape(s string, plain func(i int) bool) string {
	var b strings.Builder
	for i := range len(s) {
		if plain(i) {
			b.WriteByte(s[i])
		} else {
			b.WriteString(string([]byte{'%', upperHex[s[i]>>4], upperHex[s[i]&15]}))
		}
	}
	return b.String()
}

// UnescapeField reverses [EscapeField], and accepts only what that returns.
func UnescapeField(s string) (string, error) {
	text, err := url.PathUnescape(s)
	if err != nil || EscapeField(text) != s {
		return "", errLine
	}
	return text, nil
}
