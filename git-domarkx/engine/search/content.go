package search

import (
	"path"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
)

// A content is the part of a message that is indexed.
type content struct {
	role  domarkx.Role
	model string
	tools []string // names of the tools that it calls
	paths []string // paths in the arguments of these calls

	text  []byte // all of it, as -F and -e see it
	prose []byte // text and code, to be found by words
	calls []byte // the values in calls and results, likewise
}

// contentOf returns the indexed part of a message. Calls and their results are JSON; their text has the escapes in
// strings resolved, so that the text of a file or a command is found as it is there.
func contentOf(m domarkx.Message) *content {
	c := &content{role: m.Role}
	if m.Metadata != nil {
		model, _ := m.Metadata.Get("model")
		c.model = model.Text()
	}
	for _, b := range m.Content {
		if len(c.text) > 0 {
			c.text = append(c.text, '\n')
		}
		if b.Type != domarkx.CodeBlock || b.Language != toolcall.Language && b.Language != toolcall.ResultLanguage {
			c.text = append(c.text, b.Text...)
			c.prose = append(append(c.prose, b.Text...), '\n')
			continue
		}
		c.addCall(b.Text, b.Language == toolcall.Language)
	}
	return c
}

// addCall adds the JSON of a call or a result.
func (c *content) addCall(text string, call bool) {
	resource := ""
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
			c.tools = append(c.tools, string(value))
			if resource != "" {
				c.tools = append(c.tools, resource+"__"+string(value))
			}
		case s.depth > 1 && isPathKey(s.key):
			c.addPath(string(value))
		case s.depth > 1:
			c.addPatch(string(value))
		}
	}
	c.text = s.out
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

// isPathKey reports whether arguments of this name are paths, in the tools of the agents and workspaces that
// are known.
func isPathKey(key string) bool {
	switch strings.ToLower(key) {
	case "path", "paths", "file", "files", "filename", "file_name", "filepath", "file_path", "file_paths", "absolute_path", "relative_path",
		"notebook_path", "target_file", "old_path", "new_path", "source", "destination", "dir", "dir_path", "directory", "cwd", "workdir":
		return true
	}
	return false
}

// addPatch adds the paths of a patch in the form of apply_patch, or of a unified diff.
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
