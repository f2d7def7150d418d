package html

import (
	"bytes"
	"strings"

	"github.com/domarkx/domarkx"
)

// maxColoured is the length in bytes up to which a text is examined for a diff.
const maxColoured = 4 << 20

// writeCode writes code, coloured if it is a diff.
func writeCode(b *bytes.Buffer, language, code string) {
	code = clean(code)
	if language == "diff" || language == "patch" || isDiff(code) {
		writeDiff(b, code)
		return
	}
	b.WriteString("<pre><code")
	if language != "" {
		b.WriteString(` data-language="`)
		escape(b, clean(cut(language, 40)))
		b.WriteByte('"')
	}
	b.WriteByte('>')
	escape(b, code)
	b.WriteString("</code></pre>\n")
}

// isDiff reports whether a text is a unified diff.
func isDiff(s string) bool {
	if len(s) > maxColoured {
		return false
	}
	head := s[:min(len(s), 4<<10)]
	return strings.Contains("\n"+head, "\n@@ -") && (strings.HasPrefix(head, "diff ") || strings.Contains("\n"+head, "\n--- ") && strings.Contains(head, "\n+++ "))
}

// WriteDiff writes a unified diff with its lines coloured.
func WriteDiff(b *bytes.Buffer, diff string) { writeDiff(b, clean(diff)) }

func writeDiff(b *bytes.Buffer, diff string) {
	b.WriteString(`<pre class="diff"><code>`)
	for line := range strings.Lines(diff) {
		class := ""
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
			class = "file"
		case strings.HasPrefix(line, "@@"):
			class = "hunk"
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		default:
			escape(b, line)
			continue
		}
		b.WriteString(`<span class="` + class + `">`)
		escape(b, line)
		b.WriteString("</span>")
	}
	b.WriteString("</code></pre>\n")
}

// writeReplacement writes a replacement as a diff of the old text and the new one.
func writeReplacement(b *bytes.Buffer, old, new string) {
	var d strings.Builder
	for _, side := range []struct{ sign, text string }{{"-", old}, {"+", new}} {
		for line := range strings.Lines(side.text) {
			d.WriteString(side.sign + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	writeDiff(b, clean(d.String()))
}

// writeValue writes a JSON value: a string as text, other values as indented JSON.
func writeValue(b *bytes.Buffer, v domarkx.Value) {
	if v.Kind() == domarkx.String {
		writeCode(b, "", v.Text())
		return
	}
	writeCode(b, "json", string(v.AppendJSON(nil, "", "  ")))
}
