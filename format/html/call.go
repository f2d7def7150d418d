package html

import (
	"bytes"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// writeCall writes a call and its result, folded. result is nil if there is none.
func writeCall(b *bytes.Buffer, call *transcript.Call, result *transcript.Result) {
	class := "call"
	if result != nil && result.Failed {
		class = "call failed"
	}
	writef(b, `<details class="%s"><summary><span class="tool">%s</span> `, class, cut(call.Tool, 80))
	if status := result.Status(); status != "" { // before the argument, which may fill the line
		writef(b, `<span class="status">%s</span> `, cut(status, 40))
	}
	if brief := call.Brief(); brief != "" {
		writef(b, `<span class="brief">%s</span>`, cut(brief, 160))
	}
	b.WriteString("</summary>\n")
	writeSections(b, call.Sections())
	if result != nil {
		writeLabel(b, "Result")
		writeSections(b, result.Sections())
	}
	b.WriteString("</details>\n")
}

// writeResult writes a result that has no preceding call.
func writeResult(b *bytes.Buffer, result *transcript.Result) {
	b.WriteString("<details class=\"call\"><summary><span class=\"tool\">Result</span></summary>\n")
	writeLabel(b, "Result")
	writeSections(b, result.Sections())
	b.WriteString("</details>\n")
}

func writeSections(b *bytes.Buffer, sections []transcript.Section) {
	for _, s := range sections {
		switch {
		case s.Fields != nil:
			writeFields(b, s.Fields)
		case s.IsEdit:
			writeReplacement(b, s.Old, s.New)
		default:
			if s.Label != "" {
				writeLabel(b, s.Label)
			}
			writeCode(b, s.Language, s.Text)
		}
	}
}

func writeLabel(b *bytes.Buffer, label string) {
	writef(b, `<p class="label">%s</p>`, cut(label, 80))
}

// writeFields writes the names and values of short arguments.
func writeFields(b *bytes.Buffer, members []jsonvalue.Member) {
	b.WriteString("<dl>")
	for _, m := range members {
		value := m.Value.Text()
		if m.Value.Kind() != jsonvalue.String {
			value = m.Value.JSON()
		}
		writef(b, "<dt>%s</dt><dd>%s</dd>", cut(m.Name, 80), value)
	}
	b.WriteString("</dl>\n")
}
