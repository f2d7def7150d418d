package html

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/transcript"
)

// maxColoured is the length in bytes up to which a text is examined for a diff.
const maxColoured = 4 << 20

// writeCode writes code, coloured if it is a diff.
func writeCode(b *bytes.Buffer, language, code string) {
	code = clean(code)
	if language == "diff" || language == "patch" || isDiff(code) {
		WriteDiff(b, code)
		return
	}
	b.WriteString("<pre><code")
	if language != "" {
		writef(b, ` data-language="%s"`, cut(language, 40))
	}
	b.WriteByte('>')
	escape(b, code)
	b.WriteString("</code></pre>\n")
}

// endPatch is the last line of a patch that begins with [transcript.BeginPatch].
const endPatch = "*** End Patch"

// isDiff reports whether a text is a unified diff or a patch of apply_patch.
func isDiff(s string) bool {
	if len(s) > maxColoured {
		return false
	}
	head := s[:min(len(s), 4<<10)]
	if strings.Contains("\n"+head, "\n"+transcript.BeginPatch+"\n") {
		return true
	}
	return strings.Contains("\n"+head, "\n@@ -") && (strings.HasPrefix(head, "diff ") || strings.Contains("\n"+head, "\n--- ") && strings.Contains(head, "\n+++ "))
}

// WriteDiff writes a unified diff with its lines coloured.
func WriteDiff(b *bytes.Buffer, diff string) {
	b.WriteString(`<pre class="diff"><code>`)
	var hunk [2]int // how many old and new lines the hunk still has
	isPatch := false
	for line := range strings.Lines(clean(diff)) {
		class := ""
		switch isHunk := hunk[0] > 0 || hunk[1] > 0 || isPatch; {
		case strings.HasPrefix(line, "@@"):
			class, hunk = "hunk", hunkLines(line)
		case isHunk && line[0] == '+': // even if the added line begins with "++"
			class = "add"
			hunk[1]--
		case isHunk && line[0] == '-':
			class = "del"
			hunk[0]--
		case isHunk && (line[0] == ' ' || line[0] == '\n' || line[0] == '\\'):
			if line[0] != '\\' { // "\ No newline at end of file" is none of the lines
				hunk[0]--
				hunk[1]--
			}
		case isPatch && strings.HasPrefix(line, "*** ") || strings.TrimSpace(line) == transcript.BeginPatch:
			class, isPatch = "file", strings.TrimSpace(line) != endPatch
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
			class, hunk = "file", [2]int{}
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		default:
			hunk = [2]int{}
		}
		writeDiffLine(b, class, line)
	}
	b.WriteString("</code></pre>\n")
}

// hunkLines returns how many old and new lines follow the header of a hunk, such as "@@ -1,2 +1 @@".
func hunkLines(header string) (lines [2]int) {
	fields := strings.Fields(header[:min(len(header), 80)])
	if len(fields) < 3 || fields[1][0] != '-' || fields[2][0] != '+' {
		return lines
	}
	for i, field := range fields[1:3] {
		lines[i] = 1
		if _, count, ok := strings.Cut(field, ","); ok {
			lines[i], _ = strconv.Atoi(count)
		}
	}
	return lines
}

func writeDiffLine(b *bytes.Buffer, class, line string) {
	if class == "" {
		escape(b, line)
		return
	}
	b.WriteString(`<span class="` + class + `">`)
	escape(b, line)
	b.WriteString("</span>")
}

// writeReplacement writes a replacement as a diff of the old text and the new one.
func writeReplacement(b *bytes.Buffer, old, new string) {
	b.WriteString(`<pre class="diff"><code>`)
	for _, side := range []struct{ class, sign, text string }{{"del", "-", old}, {"add", "+", new}} {
		for line := range strings.Lines(clean(side.text)) {
			writeDiffLine(b, side.class, side.sign+strings.TrimSuffix(line, "\n")+"\n")
		}
	}
	b.WriteString("</code></pre>\n")
}
