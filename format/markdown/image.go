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

// maxDestination limits the length of an image's destination, in bytes.
const maxDestination = 4096

// Images returns the destinations of inline images in Markdown, written as ![alt](destination), in
// order. It ignores images in code and HTML comments, and those by reference (![alt][label]). Its time
// is linear in the length of the text.
func Images(text string) []string {
	if !strings.Contains(text, "![") {
		return nil
	}
	var found []string
	var fence fenceLine
	closings := closingFences(text)
	start, hidden := 0, 0 // offsets where the paragraph begins, and where a comment ends
	depth := 0            // of quotes at the beginning of the paragraph
	end := func(at int) {
		if start < at {
			found = appendImages(found, text[start:at])
		}
	}
	at := 0
	for line := range strings.Lines(text) {
		next := at + len(line)
		for len(closings) > 0 && closings[0].at < next {
			closings = closings[1:]
		}
		opening := parseFenceLine(strings.TrimLeft(line, " \t>-*+0123456789.)")) // optional list or quote markers before the fence
		deep := quoteDepth(line)
		if at == start {
			depth = deep
		}
		switch {
		case at < hidden:
			start = next
		case fence.length > 0:
			if opening.closes(fence) {
				fence = fenceLine{}
			}
			start = next
		case opening.opens() && len(closings) > 0 && closings[0].longest[opening.kind()] >= opening.length:
			end(at)
			fence, start = opening, next
		case strings.HasPrefix(strings.TrimLeft(line, " \t>"), "<!--"):
			end(at)
			hidden, start = len(text), next
			if length := strings.Index(text[at:], "-->"); length >= 0 {
				hidden = at + length
			}
		case strings.Trim(line, " \t\r\n>") == "":
			end(at)
			start = next
		case deep > depth: // a quote ends the paragraph before it
			end(at)
			start, depth = at, deep
		}
		at = next
	}
	end(len(text))
	return found
}

// quoteDepth returns in how many block quotes a line begins.
func quoteDepth(line string) int {
	depth := 0
	for {
		rest := strings.TrimLeft(line, " ")
		if !strings.HasPrefix(rest, ">") || len(line)-len(rest) > 4 { // three spaces, and one after the marker before
			return depth
		}
		depth, line = depth+1, rest[1:]
	}
}

// A fenceLine is a line that may open or close a fenced code block. The zero fenceLine is any other
// line.
type fenceLine struct {
	mark   byte
	length int
	bare   bool // nothing follows the fence characters
	ticks  bool // the text after the fence characters contains a backtick
}

func parseFenceLine(line string) fenceLine {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return fenceLine{}
	}
	rest := strings.TrimLeft(line, line[:1])
	if n := len(line) - len(rest); n >= 3 {
		return fenceLine{line[0], n, strings.TrimSpace(rest) == "", strings.Contains(rest, "`")}
	}
	return fenceLine{}
}

// kind is 0 for backticks and 1 for tildes.
func (l fenceLine) kind() int {
	if l.mark == '~' {
		return 1
	}
	return 0
}

func (l fenceLine) opens() bool { return l.length > 0 && (l.mark == '~' || !l.ticks) }

func (l fenceLine) closes(opening fenceLine) bool {
	return l.mark == opening.mark && l.length >= opening.length && l.bare
}

// A closingFence is a line that may close a block of code.
type closingFence struct {
	at      int
	longest [2]int // longest closing fence on this line or later, for backticks and tildes
}

// closingFences returns the lines of a text that may close a block of code.
func closingFences(text string) []closingFence {
	var all []closingFence
	at := 0
	for line := range strings.Lines(text) {
		if l := parseFenceLine(strings.TrimLeft(line, " \t>")); l.bare {
			f := closingFence{at: at}
			f.longest[l.kind()] = l.length
			all = append(all, f)
		}
		at += len(line)
	}
	for i := len(all) - 2; i >= 0; i-- {
		for kind := range all[i].longest {
			all[i].longest[kind] = max(all[i].longest[kind], all[i+1].longest[kind])
		}
	}
	return all
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
			if !image || i == len(text) || text[i] != '(' {
				continue
			}
			if destination, next, ok := parseDestination(text, i+1); ok {
				found = append(found, destination)
				i = next
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

// parseDestination reads the destination of an image and its title, up to the closing parenthesis. It
// returns the destination and the text after the parenthesis.
func parseDestination(text string, i int) (destination string, next int, ok bool) {
	i = skipBlanks(text, i)
	start := i
	if strings.HasPrefix(text[i:], "<") {
		for i++; ; i++ {
			if i >= len(text) || i-start > maxDestination || text[i] == '\n' || text[i] == '<' {
				return "", 0, false
			}
			if text[i] == '>' {
				break
			}
			if text[i] == '\\' {
				i++
			}
		}
		destination = text[start+1 : i]
		i++
	} else {
		for depth := 0; i < len(text) && text[i] > ' '; i++ {
			if text[i] == ')' && depth == 0 {
				break
			}
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
			if depth > 32 || i-start > maxDestination {
				return "", 0, false
			}
		}
		destination = text[start:min(i, len(text))]
	}
	before := i
	i = skipBlanks(text, i)
	if i < len(text) && i > before && strings.IndexByte(`"'(`, text[i]) >= 0 {
		if i = afterTitle(text, i); i < 0 {
			return "", 0, false
		}
		i = skipBlanks(text, i)
	}
	if i >= len(text) || text[i] != ')' {
		return "", 0, false
	}
	return unescapeDestination(destination), i + 1, true
}

func skipBlanks(text string, i int) int {
	for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
		i++
	}
	return i
}

// afterTitle returns the offset after a title, or -1 if the title is not closed.
func afterTitle(text string, i int) int {
	closing := text[i]
	if closing == '(' {
		closing = ')'
	}
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case c == closing:
			return i + 1
		case c == '(' && closing == ')':
			return -1
		case c == '\\':
			i++
		}
	}
	return -1
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
