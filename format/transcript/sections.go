package transcript

import (
	"cmp"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// BeginPatch is the first line of a patch in the form of the tool apply_patch.
const BeginPatch = "*** Begin Patch"

// telling are the arguments that describe a call best, the most descriptive first.
var telling = [...]string{"command", "cmd", "file_path", "filePath", "notebook_path", "pattern", "query", "path", "url", "description", "prompt", "title", "name"}

// Brief returns the argument that best describes a call, for a line that stands for the call; "" if there is none.
func (c *Call) Brief() string {
	for _, name := range telling {
		v := Get(c.Arguments, name)
		switch v.Kind() {
		case jsonvalue.String:
			if v.Text() != "" {
				return v.Text()
			}
		case jsonvalue.Array:
			return v.JSON()
		}
	}
	for _, m := range c.Arguments.Members() {
		if m.Value.Kind() == jsonvalue.String && m.Value.Text() != "" {
			return strings.TrimPrefix(m.Value.Text(), BeginPatch+"\n*** ") // what it does to its first file
		}
	}
	return ""
}

// Status returns how a call ended: "" for success, the code of an error, or "no result" if r is nil.
func (r *Result) Status() string {
	switch {
	case r == nil:
		return "no result"
	case !r.Failed:
		return ""
	}
	return cmp.Or(r.Code, domarkx.CodeFailed)
}

// A Section is a piece of a call or a result as people see it: fields, an edit, or a text.
type Section struct {
	Fields   []jsonvalue.Member // short values with their names
	IsEdit   bool
	Old, New string // the texts of an edit
	Label    string // of a text; may be ""
	Language string
	Text     string
}

// replacements are the names that agents give to the old and the new text of an edit.
var replacements = [...][2]string{{"old_string", "new_string"}, {"oldString", "newString"}, {"old_str", "new_str"}, {"oldText", "newText"}}

// replacement returns the names of the old and the new text in an edit; "" if v is none.
func replacement(v jsonvalue.Value) [2]string {
	for _, names := range replacements {
		if Get(v, names[0]).Kind() == jsonvalue.String && Get(v, names[1]).Kind() == jsonvalue.String {
			return names
		}
	}
	return [2]string{}
}

// Sections returns the arguments of a call: short ones as fields, other values as JSON, long texts as texts, and the
// replacement of an edit as such.
func (c *Call) Sections() []Section { return sections(c.Arguments) }

func sections(arguments jsonvalue.Value) (all []Section) {
	var short, rest, long []jsonvalue.Member
	var edits []jsonvalue.Value
	members, edit := arguments.Members(), replacement(arguments)
	for _, m := range members {
		switch {
		case edit[0] != "" && (m.Name == edit[0] || m.Name == edit[1]):
		case m.Name == "edits" && isEdits(m.Value):
			edits = m.Value.Items()
		case m.Value.Kind() == jsonvalue.String && (m.Name == "command" || len(m.Value.Text()) > 200 || strings.Contains(m.Value.Text(), "\n")):
			long = append(long, m)
		case m.Value.Kind() == jsonvalue.Array || m.Value.Kind() == jsonvalue.Object:
			rest = append(rest, m)
		default:
			short = append(short, m)
		}
	}
	if len(short) > 0 {
		all = append(all, Section{Fields: short})
	}
	if len(rest) > 0 {
		all = append(all, inJSON(jsonvalue.ObjectValue(rest...)))
	}
	for _, m := range long {
		s := Section{Label: m.Name, Text: m.Value.Text()}
		if m.Name == "command" && len(members) == 1 {
			s.Label = ""
		}
		all = append(all, s)
	}
	if edit[0] != "" {
		all = append(all, Section{IsEdit: true, Old: Text(arguments, edit[0]), New: Text(arguments, edit[1])})
	}
	for _, v := range edits {
		all = append(all, sections(v)...)
	}
	return all
}

// isEdits reports whether a value is a list of edits.
func isEdits(v jsonvalue.Value) bool {
	return !slices.ContainsFunc(v.Items(), func(v jsonvalue.Value) bool { return replacement(v)[0] == "" }) && len(v.Items()) > 0
}

func inJSON(v jsonvalue.Value) Section { return Section{Language: "json", Text: Indented(v)} }

// Sections returns the result of a tool, or its error. The output of a command is a text.
func (r *Result) Sections() (all []Section) {
	switch {
	case r.Failed && r.Value.Text() == "":
		return []Section{{Text: r.Code}}
	case r.Value.Kind() == jsonvalue.String:
		return []Section{{Text: r.Value.Text()}}
	case r.Value.Kind() != jsonvalue.Object:
		return []Section{inJSON(r.Value)}
	}
	var rest []jsonvalue.Member
	for _, m := range r.Value.Members() {
		if m.Value.Kind() != jsonvalue.String || !slices.Contains([]string{"stdout", "stderr", "output", "content", "text"}, m.Name) {
			rest = append(rest, m)
			continue
		}
		s := Section{Text: m.Value.Text()}
		if m.Name == "stderr" {
			s.Label = m.Name
		}
		if s.Text != "" {
			all = append(all, s)
		}
	}
	if len(rest) > 0 || len(all) == 0 {
		all = append(all, inJSON(jsonvalue.ObjectValue(rest...)))
	}
	return all
}
