package html

import (
	"bytes"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// The languages of the code blocks that are not shown as plain code.
const (
	callLanguage    = "tool-call"
	resultLanguage  = "tool-result"
	thoughtLanguage = "thought"
)

func isCode(b domarkx.Block, language string) bool {
	return b.Type == domarkx.CodeBlock && b.Language == language
}

func get(v jsonvalue.Value, path ...string) jsonvalue.Value {
	for _, name := range path {
		v, _ = v.Get(name)
	}
	return v
}

func str(v jsonvalue.Value, path ...string) string {
	if v = get(v, path...); v.Kind() != jsonvalue.String {
		return ""
	}
	return v.Text()
}

// writeCall writes a call and its result, folded. A block that is not a valid call is shown as
// code. result is nil if there is none.
func writeCall(b *bytes.Buffer, call, result *domarkx.Block) {
	v, err := jsonvalue.ParseValue([]byte(call.Text))
	tool := str(v, "tool")
	if err != nil || tool == "" {
		writeCode(b, call.Language, call.Text)
		if result != nil {
			writeResult(b, *result)
		}
		return
	}
	arguments := get(v, "arguments")
	class, status := "call", ""
	outcome := jsonvalue.Value{}
	if result == nil {
		status = "no result"
	} else if outcome, err = jsonvalue.ParseValue([]byte(result.Text)); err == nil && !get(outcome, "ok").IsTrue() {
		class, status = "call failed", "failed"
		if code := str(outcome, "error", "code"); code != "" {
			status = code
		}
	}
	b.WriteString(`<details class="` + class + `"><summary><span class="tool">`)
	escape(b, clean(cut(tool, 80)))
	b.WriteString("</span> ")
	if status != "" { // before the argument, which may fill the line
		b.WriteString(`<span class="status">`)
		escape(b, clean(cut(status, 40)))
		b.WriteString("</span> ")
	}
	if brief := brief(arguments); brief != "" {
		b.WriteString(`<span class="brief">`)
		escape(b, clean(cut(brief, 160)))
		b.WriteString("</span>")
	}
	b.WriteString("</summary>\n")
	writeArguments(b, arguments)
	if result != nil {
		writeOutcome(b, *result, outcome)
	}
	b.WriteString("</details>\n")
}

// telling are the arguments that describe a call best, the most descriptive first.
var telling = [...]string{"command", "cmd", "file_path", "filePath", "notebook_path", "pattern", "query", "path", "url", "description", "prompt", "title", "name"}

// brief returns the argument that best describes a call, for its folded line.
func brief(arguments jsonvalue.Value) string {
	for _, name := range telling {
		v := get(arguments, name)
		switch v.Kind() {
		case jsonvalue.String:
			if v.Text() != "" {
				return v.Text()
			}
		case jsonvalue.Array:
			return v.JSON()
		}
	}
	for _, m := range arguments.Members() {
		if m.Value.Kind() == jsonvalue.String && m.Value.Text() != "" {
			return strings.TrimPrefix(m.Value.Text(), beginPatch+"\n*** ") // what it does to its first file
		}
	}
	return ""
}

// replacements are the names that agents give to the old and the new text of an edit.
var replacements = [...][2]string{{"old_string", "new_string"}, {"oldString", "newString"}, {"old_str", "new_str"}, {"oldText", "newText"}}

// replacement returns the names of the old and the new text in an edit; "" if v is none.
func replacement(v jsonvalue.Value) [2]string {
	for _, names := range replacements {
		if get(v, names[0]).Kind() == jsonvalue.String && get(v, names[1]).Kind() == jsonvalue.String {
			return names
		}
	}
	return [2]string{}
}

// writeArguments writes the arguments of a call: the replacement of an edit as a diff, long texts as
// text, and the rest as JSON.
func writeArguments(b *bytes.Buffer, arguments jsonvalue.Value) {
	var short, rest, long []jsonvalue.Member
	var edits []jsonvalue.Value
	members, edit := arguments.Members(), replacement(arguments)
	for _, m := range members {
		switch {
		case edit[0] != "" && (m.Name == edit[0] || m.Name == edit[1]):
		case m.Name == "edits" && isEdits(m.Value):
			edits = m.Value.Items()
		case m.Value.Kind() == jsonvalue.String && (m.Name == "command" || len(m.Value.Text()) > 200 || bytes.ContainsRune([]byte(m.Value.Text()), '\n')):
			long = append(long, m)
		case m.Value.Kind() == jsonvalue.Array || m.Value.Kind() == jsonvalue.Object:
			rest = append(rest, m)
		default:
			short = append(short, m)
		}
	}
	writeFields(b, short)
	if len(rest) > 0 {
		writeCode(b, "json", indented(rest))
	}
	for _, m := range long {
		if m.Name != "command" || len(members) > 1 {
			b.WriteString(`<p class="label">`)
			escape(b, clean(cut(m.Name, 80)))
			b.WriteString("</p>")
		}
		writeCode(b, "", m.Value.Text())
	}
	if edit[0] != "" {
		writeReplacement(b, str(arguments, edit[0]), str(arguments, edit[1]))
	}
	for _, v := range edits {
		writeArguments(b, v)
	}
}

// isEdits reports whether a value is a list of edits.
func isEdits(v jsonvalue.Value) bool {
	return !slices.ContainsFunc(v.Items(), func(v jsonvalue.Value) bool { return replacement(v)[0] == "" }) && len(v.Items()) > 0
}

// writeFields writes the names and values of short arguments.
func writeFields(b *bytes.Buffer, members []jsonvalue.Member) {
	if len(members) == 0 {
		return
	}
	b.WriteString("<dl>")
	for _, m := range members {
		b.WriteString("<dt>")
		escape(b, clean(cut(m.Name, 80)))
		b.WriteString("</dt><dd>")
		value := m.Value.Text()
		if m.Value.Kind() != jsonvalue.String {
			value = m.Value.JSON()
		}
		escape(b, clean(value))
		b.WriteString("</dd>")
	}
	b.WriteString("</dl>\n")
}

func indented(members []jsonvalue.Member) string {
	return string(jsonvalue.ObjectValue(members...).AppendJSON(nil, "", "  "))
}

// writeOutcome writes the result in a tool-result block.
func writeOutcome(b *bytes.Buffer, block domarkx.Block, outcome jsonvalue.Value) {
	b.WriteString(`<p class="label">Result</p>`)
	switch {
	case outcome.Kind() != jsonvalue.Object:
		writeCode(b, "", block.Text)
	case get(outcome, "ok").IsTrue():
		result := get(outcome, "result")
		writeShown(b, result)
	default:
		text := str(outcome, "error", "message")
		if text == "" {
			text = str(outcome, "error", "code")
		}
		writeCode(b, "", text)
	}
}

// writeShown writes the value of a result. The output of a command is shown unchanged.
func writeShown(b *bytes.Buffer, v jsonvalue.Value) {
	var rest []jsonvalue.Member
	wrote := false
	for _, m := range v.Members() {
		if (m.Name == "stdout" || m.Name == "stderr" || m.Name == "output" || m.Name == "content" || m.Name == "text") && m.Value.Kind() == jsonvalue.String {
			if m.Value.Text() != "" {
				if m.Name == "stderr" {
					b.WriteString(`<p class="label">stderr</p>`)
				}
				writeCode(b, "", m.Value.Text())
				wrote = true
			}
			continue
		}
		rest = append(rest, m)
	}
	switch {
	case v.Kind() != jsonvalue.Object:
		writeValue(b, v)
	case len(rest) > 0 || !wrote:
		writeCode(b, "json", indented(rest))
	}
}

// writeResult writes a result that has no preceding call.
func writeResult(b *bytes.Buffer, block domarkx.Block) {
	v, err := jsonvalue.ParseValue([]byte(block.Text))
	if err != nil {
		v = jsonvalue.Value{}
	}
	b.WriteString("<details class=\"call\"><summary><span class=\"tool\">Result</span></summary>\n")
	writeOutcome(b, block, v)
	b.WriteString("</details>\n")
}
