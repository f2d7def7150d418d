package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// expected describes the content of a session in Markdown.
const expected = `expected "## user" or "## assistant" before each message; --format md imports it all the same`

// maxBlock is the size in bytes up to which a block is checked.
const maxBlock = 16 << 20

// A Finding describes the content of a file that was read as a session in Markdown.
type Finding struct {
	// Alien, if not nil, explains why the file is not a session: it is binary, or a text without
	// messages. A file without text is a session, and so is one with only a header.
	Alien *syntax.Error
	// Dialect, if not nil, is about a heading that names a role of another dialect.
	Dialect *syntax.Error
	// Blocks lists the metadata, calls and results that are not valid JSON.
	Blocks []*syntax.Error

	path    string
	configs map[string]configBlock // the first block of each kind
}

// Check looks for signs that a file, which was read as a session of n messages, is not a session.
func Check(f format.File, h domarkx.Header, n int) (Finding, error) {
	c := checker{path: f.Path}
	c.found.path, c.found.configs = f.Path, map[string]configBlock{}
	for line, err := range linesOf(f) {
		if err != nil {
			return Finding{}, err
		}
		if c.number = line.number; !line.isFront {
			c.line(line.text)
		}
	}
	c.endBlock()
	isSession := n > 0 || c.configures || h.UserMetadata != nil || h.Setup != nil || len(h.ExecutionConfig.Members()) > 0 || len(h.Extra) > 0
	switch {
	case isSession || !c.hasText:
	case c.binary > 0:
		c.found.Alien = c.at(c.binary, "is not text; "+expected)
	case c.speaker > 0:
		c.found.Alien = c.at(c.speaker, "a name in bold begins no message; "+expected)
	case c.found.Dialect != nil:
		c.found.Alien = c.found.Dialect
	default:
		c.found.Alien = c.at(1, "holds no message; "+expected)
	}
	return c.found, nil
}

// A checker looks at a file line by line.
type checker struct {
	path   string
	number int // of the line
	sc     scanner

	found      Finding
	hasText    bool
	configures bool // the file has a block that configures a session
	binary     int  // number of the first line that is not text; 0 for none
	speaker    int  // number of the first line that begins with a speaker's name in bold

	block     string // name of the open block; "" if it is not checked
	blockLine int    // number of its first line
	body      []byte
}

// speakerLine matches a line that begins with a speaker's name in bold.
var speakerLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^_?(\*\*|__)(user|human|assistant|ai|system|tool)\b`)
})

func (c *checker) line(line []byte) {
	c.hasText = c.hasText || !isBlank(line)
	if c.binary == 0 && (bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line)) {
		c.binary = c.number
	}
	switch c.sc.feed(line) {
	case eventFenceBegin:
		c.beginBlock()
	case eventFenceBody:
		if c.block != "" && len(c.body) <= maxBlock {
			c.body = append(append(c.body, line...), '\n')
		}
	case eventFenceEnd:
		c.endBlock()
	case eventText:
		if len(c.sc.open) > 0 {
			return
		}
		if role := alienRole(line); role != "" && c.found.Dialect == nil {
			c.found.Dialect = c.at(c.number, fmt.Sprintf("the heading %q is a role of another dialect; %s", "## "+role, expected))
		}
		if c.speaker == 0 && speakerLine().Match(line) {
			c.speaker = c.number
		}
	}
}

func (c *checker) at(line int, msg string) *syntax.Error {
	return &syntax.Error{Path: c.path, Line: line, Column: 1, Msg: msg, Err: domarkx.ErrUnsupported}
}

// alienRole returns the role that a heading line names, if that role is one of another dialect;
// otherwise "".
func alienRole(line []byte) string {
	text, ok := strings.CutPrefix(string(line[leadingSpaces(line, 3):]), "##")
	if !ok || text == "" || text[0] != ' ' && text[0] != '\t' {
		return ""
	}
	switch role := strings.Trim(strings.TrimRight(strings.TrimSpace(text), "#"), " \t:"); strings.ToLower(role) {
	case "system", "tool":
		return role
	}
	return ""
}

// beginBlock examines the info string of a block.
func (c *checker) beginBlock() {
	seg := segment{code: true, fence: c.sc.fence}
	c.block, c.blockLine, c.body = "", c.number+1, c.body[:0]
	for _, word := range []string{messageMetadata, toolCall, toolResult, sessionConfig, workspaceConfig, wholeSnapshot} {
		if seg.is(word) {
			c.block = word
		}
	}
	c.configures = c.configures || seg.is(setupScript) || configures(c.block)
}

// configures reports whether blocks with that word configure a session.
func configures(word string) bool {
	return word == sessionConfig || word == workspaceConfig || word == wholeSnapshot
}

// The languages of blocks with calls and their results.
const (
	toolCall   = "tool-call"
	toolResult = "tool-result"
)

func (c *checker) endBlock() {
	defer func() { c.block = "" }()
	if c.block == "" || len(c.body) > maxBlock {
		return
	}
	if configures(c.block) {
		if _, there := c.found.configs[c.block]; !there {
			c.found.configs[c.block] = configBlock{c.blockLine, bytes.Clone(c.body)}
		}
		return
	}
	if _, err := jsonvalue.ParseValue(c.body); err != nil {
		var at *syntax.Error
		report := c.at(c.blockLine, c.block+" block: is not valid JSON")
		report.Err = domarkx.ErrInvalid
		if errors.As(domarkx.Locate(err, c.body), &at) {
			report.Line, report.Column, report.Msg = c.blockLine+max(at.Line, 1)-1, max(at.Column, 1), c.block+" block: "+at.Msg
		}
		c.found.Blocks = append(c.found.Blocks, report)
	}
}
