package markdown

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

const indent = "  " // indentation of JSON in blocks

// RenderMessage returns the canonical rendering of a message (SPEC.md): its heading, its metadata, and
// its content as ordinary Markdown. If that would not read back as the same message, the rendering is
// one block with the message as a JSON object. It ends with one LF. The strings of the message must be
// WTF-8. [ParseMessage] restores the message.
func RenderMessage(m domarkx.Message) []byte {
	return appendMessage(make([]byte, 0, sizeHint(m)), m)
}

// appendMessage appends the canonical rendering of a message.
func appendMessage(dst []byte, m domarkx.Message) []byte {
	start := len(dst)
	if dst = appendPlain(dst, m); isPlain(m, dst[start:]) || readsAs(dst[start:], m) {
		return dst
	}
	return appendWhole(dst[:start], m)
}

// RenderRecorded returns the canonical rendering of a message, if the rendering's SHA-256 is digest,
// and false otherwise. Unlike [RenderMessage], it does not parse the result to check it.
func RenderRecorded(m domarkx.Message, digest [32]byte) ([]byte, bool) {
	body := appendPlain(make([]byte, 0, sizeHint(m)), m)
	if sha256.Sum256(body) == digest {
		return body, true
	}
	body = appendWhole(body[:0], m)
	return body, sha256.Sum256(body) == digest
}

func readsAs(body []byte, m domarkx.Message) bool {
	if hides(body) {
		return false
	}
	read, err := ParseMessage(body)
	return err == nil && read.Equal(m)
}

// sizeHint estimates the length in bytes of a message as ordinary Markdown, without metadata.
func sizeHint(m domarkx.Message) int {
	n := 64
	for _, b := range m.Content {
		n += 64 + len(b.Text)
	}
	return n
}

// appendPlain appends a message as ordinary Markdown.
func appendPlain(dst []byte, m domarkx.Message) []byte {
	dst = append(dst, "## "...)
	dst = append(dst, m.Role...)
	dst = append(dst, '\n')
	if m.Metadata != nil {
		dst = appendJSONBlock(append(dst, '\n'), messageMetadata, *m.Metadata)
	}
	for _, b := range m.Content {
		dst = appendContent(append(dst, '\n'), b)
	}
	return dst
}

// appendWhole appends a message as one block that holds its object.
func appendWhole(dst []byte, m domarkx.Message) []byte {
	dst = append(dst, "## "...)
	dst = append(dst, m.Role...)
	dst = append(dst, "\n\n"...)
	return appendJSONBlock(dst, "json "+wholeMessage, m.Value())
}

// appendContent appends one block of a message's content.
func appendContent(dst []byte, b domarkx.Block) []byte {
	if b.Type == domarkx.TextBlock {
		return append(appendText(dst, b.Text), '\n')
	}
	info := b.Language
	if b.HasName {
		info = strings.TrimPrefix(info+" "+nameAttribute+b.Name, " ")
	}
	return appendFenced(dst, info, b.Text)
}

func appendFenced(dst []byte, info, code string) []byte {
	fence := codeFence(code)
	dst = append(append(append(dst, fence...), info...), '\n')
	if code != "" {
		dst = append(append(dst, code...), '\n')
	}
	return append(append(dst, fence...), '\n')
}

// codeFence returns the shortest fence that no line of the code can close.
func codeFence(code string) string {
	length := 3
	if strings.Contains(code, "```") {
		for line := range bytes.Lines([]byte(code)) {
			s := chomp(line[leadingSpaces(line, 3):])
			if n := run(s, '`'); n >= length && isBlank(s[n:]) {
				length = n + 1
			}
		}
	}
	return strings.Repeat("`", length)
}

// appendJSONBlock appends a block of pretty JSON, whose lines cannot begin with
// a backquote.
func appendJSONBlock(dst []byte, info string, v jsonvalue.Value) []byte {
	dst = append(append(append(dst, "```"...), info...), '\n')
	dst = v.AppendJSON(dst, "", indent)
	return append(dst, "\n```\n"...)
}

// appendText appends Markdown. It puts a backslash into each line that would otherwise begin a message
// or include a file.
func appendText(dst []byte, text string) []byte {
	dst = slices.Grow(dst, len(text)+64) // capacity for the rest, so that append does not copy it again
	if !begins(text) {
		return append(dst, text...)
	}
	src := []byte(text)
	var sc scanner
	for at := 0; at < len(src); {
		line, next := cutLine(src, at)
		slash := -1
		if h, ok := matchRole(line); ok && sc.outside(line) {
			slash = h.at
		} else if d, ok := matchDirective(line); ok && (len(sc.open) > 0 || sc.leaf != leafFence) {
			slash = d.at
		}
		start := len(dst)
		if slash >= 0 {
			dst = append(append(append(dst, line[:slash]...), '\\'), line[slash:]...)
		} else {
			dst = append(dst, line...)
		}
		sc.feed(dst[start:])
		dst = append(dst, src[at+len(line):next]...)
		at = next
	}
	return dst
}

// WriteMessage returns the message with the layout of its canonical rendering.
func WriteMessage(m domarkx.Message) domarkx.WrittenMessage {
	return domarkx.WrittenMessage{Message: m, Written: domarkx.Written{Layout: canonicalLayout(RenderMessage(m))}}
}

// WriteHeader returns the layout of the header's canonical rendering.
func WriteHeader(h domarkx.Header) domarkx.Written {
	return domarkx.Written{Layout: canonicalLayout(RenderHeader(h))}
}

func canonicalLayout(rendering []byte) domarkx.Layout {
	return domarkx.Layout{Digest: sha256.Sum256(rendering), Size: int64(len(rendering)), Tail: tailOf(rendering)}
}

// hides reports whether text has characters that would not be restored on reading: a carriage return,
// which other readers treat as a line end, or a NUL, which makes Git and editors treat the
// document as binary.
func hides(text []byte) bool {
	return bytes.IndexByte(text, '\r') >= 0 || bytes.IndexByte(text, 0) >= 0
}
