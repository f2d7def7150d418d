package openpocket

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/glue"
	"github.com/domarkx/domarkx/format/markdown"
)

// Encode writes a session as the program does: the first message of the user is the
// task, each tool call of the assistant a step, its last message without a call the
// final one. Nothing depends on the clock or on chance. The program escapes nothing;
// where a text would read as the boundary of a step, such lines get a blank before
// them, which is told to to.Lost, as is what the format has no place for.
func Encode(doc *domarkx.Document, to format.Target) ([]byte, error) {
	e := encoder{doc: doc}
	out, sound := e.encode()
	if !sound {
		e = encoder{doc: doc, escape: true}
		out, _ = e.encode()
	}
	for _, what := range e.lost {
		to.Lose("%s", what)
	}
	return out, nil
}

// encode writes the document, and reports whether it reads as what was written.
func (e *encoder) encode() ([]byte, bool) {
	h := e.header()
	rest := e.doc.Conversation
	if len(rest) > 0 && rest[0].Role == domarkx.User {
		h.task = e.safe(0, glue.Join(rest[0].Content, rest[0].Glue()), "## Steps")
		rest = rest[1:]
	}
	out := appendHeader(nil, h)
	body := len(out)
	first := len(e.doc.Conversation) - len(rest)
	var written []piece
	for i, m := range rest {
		written = append(written, e.pieces(first+i, m)...)
	}
	for _, p := range written {
		out = appendPiece(out, p)
	}
	read := readHeader(string(out))
	if read.cut || read.task != h.task || read.body != body {
		return out, false
	}
	return out, slices.EqualFunc(written, split(string(out[body:]), 0), func(a, b piece) bool {
		b.offset, b.ambiguous = 0, false
		return a == b
	})
}

// encoder writes one document.
type encoder struct {
	doc    *domarkx.Document
	escape bool
	lost   []string
	steps  int // the number of the last step
}

func (e *encoder) lose(form string, args ...any) {
	e.lost = append(e.lost, fmt.Sprintf(form, args...))
}

// header returns the session's own header; a time stands for what it lacks.
func (e *encoder) header() header {
	h := e.doc.Header
	if len(h.ExecutionConfig.Members()) > 0 {
		e.lose("execution_config (session-config, workspace-config)")
	}
	if h.Setup != nil {
		e.lose("setup_script")
	}
	for _, m := range slices.Concat(h.MetadataExtra, h.Extra) {
		e.lose("%s", m.Name)
	}
	made := header{values: make([]string, len(headerKeys))}
	if h.UserMetadata != nil {
		for _, m := range h.UserMetadata.Members() {
			i := slices.Index(headerKeys, m.Name)
			if i < 0 || m.Value.Kind() != domarkx.String || strings.Contains(m.Value.Text(), "\n") {
				e.lose("user_metadata.%s", m.Name)
				continue
			}
			made.values[i] = m.Value.Text()
		}
	}
	at := e.fallback()
	if made.values[0] == "" {
		made.values[0] = at.Format("20060102-150405")
	}
	if made.values[1] == "" {
		made.values[1] = at.Format(isoTime)
	}
	return made
}

// isoTime is how the program spells times.
const isoTime = "2006-01-02T15:04:05.000Z"

// fallback is the time of what says none: that of the snapshot.
func (e *encoder) fallback() time.Time {
	if t, ok := format.ParseTime(e.doc.Header.ImportTimestamp); ok {
		return t.UTC()
	}
	return time.Unix(0, 0).UTC()
}

// at returns when a message says that it was.
func (e *encoder) at(m domarkx.WrittenMessage, metadata domarkx.Value, key string) string {
	switch at := text(metadata, key); {
	case at != "" && !strings.Contains(at, "\n"):
		return at
	case m.Date != 0:
		return time.Unix(m.Date, 0).UTC().Format(isoTime)
	}
	return e.fallback().Format(isoTime)
}

// pieces returns the steps of a message, or the final block that it is.
func (e *encoder) pieces(i int, m domarkx.WrittenMessage) []piece {
	metadata := domarkx.ObjectValue()
	if m.Metadata != nil {
		metadata = *m.Metadata
	}
	for _, member := range metadata.Members() {
		if !slices.Contains([]string{keyStep, keyAt, keyAction, keyHumanAuth, keyStatus, keyEndedAt, keyUnread, domarkx.MetadataGlue}, member.Name) {
			e.lose("message %d: message_metadata.%s", i, member.Name)
		}
	}
	for _, extra := range m.Extra {
		e.lose("message %d: %s", i, extra.Name)
	}
	if m.Role == domarkx.User {
		e.lose("message %d, of the user: a session has one task", i)
		return nil
	}
	if unread, ok := metadata.Get(keyUnread); ok && unread.IsTrue() && len(m.Content) == 1 {
		return []piece{{raw: m.Content[0].Text}}
	}
	calls := slices.ContainsFunc(m.Content, func(b domarkx.Block) bool { return isCode(b, "tool-call") })
	_, ended := metadata.Get(keyStatus)
	if !calls && (ended || i == len(e.doc.Conversation)-1) {
		status := text(metadata, keyStatus)
		if status == "" || strings.Contains(status, "\n") {
			status = "SUCCESS"
		}
		return []piece{{isFinal: true, status: status, endedAt: e.at(m, metadata, keyEndedAt),
			message: e.safe(i, glue.Join(m.Content, m.Glue()), "## Final", "### Step ")}}
	}
	return e.stepsOf(i, m, metadata)
}

func isCode(b domarkx.Block, language string) bool {
	return b.Type == domarkx.CodeBlock && b.Language == language
}

// stepsOf returns a step for each call of a message, and one without an action where
// it has none.
func (e *encoder) stepsOf(i int, m domarkx.WrittenMessage, metadata domarkx.Value) []piece {
	var pieces []piece
	var before []domarkx.Block // what was thought before the next call
	add := func(action, result string) {
		number := text(metadata, keyStep)
		if number == "" || len(pieces) > 0 || strings.Contains(number, "\n") {
			number = strconv.Itoa(e.steps + 1)
		}
		if n, err := strconv.Atoi(number); err == nil {
			e.steps = n
		}
		pieces = append(pieces, piece{isStep: true, number: number, at: e.at(m, metadata, keyAt),
			thought: e.safe(i, thoughtOf(before), "```", "### Step ", "## Final"),
			action:  e.safe(i, action, "```", "### Step ", "## Final"),
			result:  e.safe(i, result, "```", "### Step ", "## Final")})
		before = nil
	}
	for b := 0; b < len(m.Content); b++ {
		block := m.Content[b]
		if !isCode(block, "tool-call") {
			before = append(before, block)
			continue
		}
		action := actionOf(block.Text, metadata)
		for _, what := range lostOfCall(block.Text) {
			e.lose("message %d: %s", i, what)
		}
		result := ""
		if b+1 < len(m.Content) && isCode(m.Content[b+1], "tool-result") {
			b++
			result = textOf(m.Content[b].Text)
			for _, what := range lostOfResult(m.Content[b].Text) {
				e.lose("message %d: %s", i, what)
			}
		}
		number := text(metadata, keyStep)
		if picture, ok := pictureOf(number, result); ok && b+1 < len(m.Content) && m.Content[b+1].Type == domarkx.TextBlock && m.Content[b+1].Text == picture.Text {
			b++
		}
		add(action, result)
	}
	if len(before) > 0 || len(pieces) == 0 {
		if len(before) > 0 {
			e.lose("message %d: that nothing was done after its last text, which becomes a step with an empty action", i)
		}
		add("{}", "")
	}
	return pieces
}

// thoughtOf returns the text of what was thought.
func thoughtOf(blocks []domarkx.Block) string {
	switch {
	case len(blocks) == 0:
		return noThought
	case len(blocks) == 1 && isCode(blocks[0], "thought"):
		return blocks[0].Text
	}
	return markdown.RenderContent(blocks)
}

// safe puts a blank before lines that would read as a boundary of the document, where
// the document would otherwise read as another.
func (e *encoder) safe(i int, s string, boundaries ...string) string {
	for _, boundary := range boundaries {
		if !e.escape {
			break
		}
		var changed bool
		if s, changed = blanked(s, boundary); changed {
			e.lose("message %d: lines that begin with %q, which get a blank before them", i, boundary)
		}
	}
	return s
}
