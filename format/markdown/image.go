package markdown

import (
	"html"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Images returns the destinations of inline images in Markdown, written as ![alt](destination), in
// order. It ignores images in fenced code, code spans and HTML comments, and those by reference
// (![alt][label]). Its time is linear in the length of the text.
func Images(text string) []string {
	if !strings.Contains(text, "![") {
		return nil
	}
	var found []string
	var sc scanner
	start, hidden := 0, 0 // offsets where the paragraph begins, and where a comment ends
	end := func(at int) {
		found = appendImages(found, text[start:at])
		start = at
	}
	at := 0
	for line := range strings.Lines(text) {
		next := at + len(line)
		if at < hidden {
			at, start = next, next
			continue
		}
		open := len(sc.open)
		sc.feed([]byte(strings.TrimRight(line, "\r\n")))
		switch {
		case sc.leaf == leafFence:
			end(at)
			start = next
		case strings.HasPrefix(strings.TrimLeft(line, " \t>"), "<!--"):
			end(at)
			hidden, start = len(text), next
			if length := strings.Index(text[at:], "-->"); length >= 0 {
				hidden = at + length
			}
		case sc.leaf == leafNone: // a heading, or the end of the paragraph
			end(at)
			end(next)
		case sc.fresh || len(sc.open) > open: // the first line of a quote or list item
			end(at)
		}
		at = next
	}
	end(len(text))
	return found
}

// appendImages appends the destinations of the images in a paragraph.
func appendImages(found []string, text string) []string {
	if !strings.Contains(text, "![") {
		return found
	}
	runs, comments := backtickRuns(text), true
	var open []bool // the open brackets, and whether an image begins with each
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\\':
			i += 2
		case c == '`':
			i = afterCode(text, i, runs)
		case c == '<' && comments && strings.HasPrefix(text[i:], "<!--"):
			length := strings.Index(text[i:], "-->")
			if comments = length >= 0; comments {
				i += length
			}
			i++
		case c == '!' && strings.HasPrefix(text[i:], "!["):
			open = append(open, true)
			i += 2
		case c == '[':
			open = append(open, false)
			i++
		case c == ']' && len(open) > 0:
			image := open[len(open)-1]
			open = open[:len(open)-1]
			i++
			if !image {
				continue
			}
			if destination, length := parseDestination(text[i:]); length > 0 {
				found = append(found, destination)
				i += length
			}
		default:
			i++
		}
	}
	return found
}

// backtickRuns returns the offsets of runs of backticks, by their length.
func backtickRuns(text string) map[int][]int {
	runs := map[int][]int{}
	for i := 0; i < len(text); i++ {
		if text[i] != '`' {
			continue
		}
		n := countMarks(text[i:])
		runs[n] = append(runs[n], i)
		i += n
	}
	return runs
}

func countMarks(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// afterCode returns the offset after the code span that begins at i, or, if none begins there, after
// the backticks at i.
func afterCode(text string, i int, runs map[int][]int) int {
	n := countMarks(text[i:])
	for len(runs[n]) > 0 && runs[n][0] < i+n {
		runs[n] = runs[n][1:]
	}
	if len(runs[n]) == 0 {
		return i + n
	}
	return runs[n][0] + n
}

// maxDestination limits the length of an image's destination with its title, in bytes.
const maxDestination = 8192

// parseDestination reads the destination of an image and its title, in parentheses. It returns the destination and the length
// of the whole, or 0.
func parseDestination(text string) (destination string, length int) {
	const maxParentheses = 32
	text = text[:min(len(text), maxDestination)]
	blanks := func(i int) int { return len(text) - len(strings.TrimLeft(text[i:], " \t\r\n")) }
	if !strings.HasPrefix(text, "(") {
		return "", 0
	}
	i := blanks(1)
	start := i
	if strings.HasPrefix(text[i:], "<") {
		if i = closedAt(text, i+1, '>', "<\n"); i == 0 {
			return "", 0
		}
		destination = text[start+1 : i-1]
	} else {
		for depth := 0; i < len(text) && text[i] > ' ' && (text[i] != ')' || depth > 0) && depth <= maxParentheses; i++ {
			switch text[i] {
			case '(':
				depth++
			case ')':
				depth--
			case '\\':
				if i+1 < len(text) && text[i+1] > ' ' {
					i++
				}
			}
		}
		destination = text[start:min(i, len(text))]
	}
	before := i
	i = blanks(i)
	if rest := text[i:]; i > before && rest != "" {
		switch rest[0] {
		case '"', '\'':
			i = closedAt(text, i+1, rest[0], "")
		case '(':
			i = closedAt(text, i+1, ')', "(")
		}
		before, i = i, blanks(i)
	}
	if before == 0 || !strings.HasPrefix(text[i:], ")") {
		return "", 0
	}
	return unescapeDestination(destination), i + 1
}

// closedAt returns the offset after a closing character, or 0 if the text lacks it or has another of the characters before it.
func closedAt(text string, i int, closing byte, others string) int {
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == closing:
			return i + 1
		case strings.IndexByte(others, c) >= 0:
			return 0
		case c == '\\':
			i++
		}
	}
	return 0
}

var escapedPunctuation = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\\\\([!-/:-@[-`{-~])") })

func unescapeDestination(s string) string {
	return html.UnescapeString(escapedPunctuation().ReplaceAllString(s, "$1"))
}

var urlScheme = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`) })

// ImagePath returns the file that the destination of an image refers to, relative to the document's
// directory and clean; "" for a URL. A path that cannot be kept with a session is
// [domarkx.ErrInvalid].
func ImagePath(destination string) (string, error) {
	if urlScheme().MatchString(destination) || strings.HasPrefix(destination, "//") || strings.HasPrefix(destination, "#") || destination == "" {
		return "", nil
	}
	name := destination
	if i := strings.IndexAny(name, "?#"); i >= 0 {
		name = name[:i]
	}
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	clean := name
	if name != "" && !strings.HasPrefix(name, "/") {
		clean = path.Clean(name)
	}
	if err := domarkx.CheckFilePath(clean); err != nil {
		return "", err
	}
	return clean, nil
}
