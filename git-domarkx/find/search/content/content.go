// Package content says what is searched of a message: its own text, what stands in its calls and results without the escapes of
// JSON, and by whom, with which tools and with which files it was made.
package content

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
)

// A Message has the parts of a message that are searched.
type Message struct {
	Role  domarkx.Role
	Model string
	Tools []string // names of the tools that the message calls
	Paths []string // paths in the arguments of its calls

	Text  []byte // all text, which -F and -e search
	Prose []byte // text and code, which a search by words finds
	Calls []byte // values in calls and results, which a search by words finds
}

// Set sets what is searched to that of a message, and reuses the memory of the one before. Calls and their results are
// JSON. Their text has no escapes, so that the text of a file or a command is found as it is.
func (c *Message) Set(m domarkx.Message) {
	*c = Message{Role: m.Role, Text: c.Text[:0], Prose: c.Prose[:0], Calls: c.Calls[:0], Tools: c.Tools[:0], Paths: c.Paths[:0]}
	if m.Metadata != nil {
		model, _ := m.Metadata.Get("model")
		c.Model = model.Text()
	}
	for i, b := range m.Content {
		if i > 0 && len(c.Text) > 0 {
			c.Text = append(c.Text, '\n')
		}
		if call := b.Language == toolcall.Language; b.Type == domarkx.CodeBlock && (call || b.Language == toolcall.ResultLanguage) {
			c.addCall(b.Text, call)
			continue
		}
		c.Text = append(c.Text, b.Text...)
		c.Prose = append(append(c.Prose, b.Text...), '\n')
	}
}

func (c *Message) addCall(text string, call bool) {
	resource, tool := "", ""
	c.Text = scanJSON(c.Text, text, func(key string, depth int, isString bool, value []byte) {
		c.Calls = append(append(c.Calls, value...), '\n')
		switch {
		case !call || !isString:
		case depth == 1 && key == "resource":
			resource = string(value)
		case depth == 1 && key == "tool":
			tool = string(value)
		case depth > 1 && isPathKey(key):
			c.addPath(string(value))
		case depth > 1:
			c.addPatch(string(value))
		}
	})
	if tool != "" {
		c.Tools = append(c.Tools, tool)
	}
	if tool != "" && resource != "" {
		c.Tools = append(c.Tools, resource+"__"+tool)
	}
}

const maxPath = 4096

func (c *Message) addPath(p string) {
	if p == "" || len(p) > maxPath || strings.ContainsAny(p, "\n\x00") {
		return
	}
	if p = path.Clean(p); !slices.Contains(c.Paths, p) {
		c.Paths = append(c.Paths, p)
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
func (c *Message) addPatch(text string) {
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
