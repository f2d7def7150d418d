package search

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
)

// A content is what the index contains of a message.
type content struct {
	role  domarkx.Role
	model string
	tools []string // names of the tools that the message calls
	paths []string // paths in the arguments of its calls

	text  []byte // all text, which -F and -e search
	prose []byte // text and code, which a search by words finds
	calls []byte // values in calls and results, which a search by words finds
}

// reset makes a content empty.
func (c *content) reset() {
	*c = content{text: c.text[:0], prose: c.prose[:0], calls: c.calls[:0], tools: c.tools[:0], paths: c.paths[:0]}
}

// set sets the content to that of a message. Calls and their results are JSON. Their text has no escapes, so that the
// text of a file or a command is found as it is.
func (c *content) set(m domarkx.Message) {
	c.reset()
	c.role = m.Role
	if m.Metadata != nil {
		c.setModel(*m.Metadata)
	}
	for i, b := range m.Content {
		if i > 0 {
			c.separate()
		}
		switch {
		case b.Type != domarkx.CodeBlock || !isCall(b.Language):
			c.text = append(c.text, b.Text...)
			c.prose = append(append(c.prose, b.Text...), '\n')
		default:
			c.addCall(b.Text, b.Language == toolcall.Language)
		}
	}
}

func (c *content) setModel(metadata jsonvalue.Value) {
	model, _ := metadata.Get("model")
	c.model = model.Text()
}

// separate ends a block, if the block has text.
func (c *content) separate() {
	if len(c.text) > 0 {
		c.text = append(c.text, '\n')
	}
}

// isCall reports whether code in a language is a call or a result.
func isCall(language string) bool {
	return language == toolcall.Language || language == toolcall.ResultLanguage
}

// addCall adds the JSON of a call or a result.
func (c *content) addCall(text string, call bool) {
	resource, tool := "", ""
	s := jsonScanner{data: text, out: c.text}
	for s.next() {
		value := s.out[s.start:]
		if s.isString {
			value = value[1 : len(value)-s.closing]
		}
		c.calls = append(append(c.calls, value...), '\n')
		switch {
		case !call || !s.isString:
		case s.depth == 1 && s.key == "resource":
			resource = string(value)
		case s.depth == 1 && s.key == "tool":
			tool = string(value)
		case s.depth > 1 && isPathKey(s.key):
			c.addPath(string(value))
		case s.depth > 1:
			c.addPatch(string(value))
		}
	}
	c.text = s.out
	if tool != "" {
		c.tools = append(c.tools, tool)
	}
	if tool != "" && resource != "" {
		c.tools = append(c.tools, resource+"__"+tool)
	}
}

const maxPath = 4096

func (c *content) addPath(p string) {
	if p == "" || len(p) > maxPath || strings.ContainsAny(p, "\n\x00") {
		return
	}
	if p = path.Clean(p); !slices.Contains(c.paths, p) {
		c.paths = append(c.paths, p)
	}
}

// isPathKey reports whether an argument is a path by the last word of its name, such as "target_file" or "filePath",
// whichever tool it is of.
func isPathKey(name string) bool {
	word := name[strings.LastIndexByte(name, '_')+1:]
	if i := strings.LastIndexFunc(word, unicode.IsUpper); i > 0 && unicode.IsLower(rune(word[i-1])) {
		word = word[i:]
	}
	switch strings.ToLower(word) {
	case "path", "paths", "file", "files", "filename", "filepath", "source", "destination", "dir", "directory", "cwd", "workdir":
		return true
	}
	return name == "file_name"
}

// addPatch adds the paths in a patch, which has the form of apply_patch or of a unified diff.
func (c *content) addPatch(text string) {
	if !strings.Contains(text, "*** ") && !strings.Contains(text, "+++ ") {
		return
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for _, prefix := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ b/", "--- a/"} {
			if p, ok := strings.CutPrefix(line, prefix); ok {
				c.addPath(p)
			}
		}
	}
}
