package openpocket

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/glue"
	"github.com/domarkx/domarkx/format/markdown"
)

// Encode writes a session as the program does: the first message of the user is the
// task, each tool call of the assistant a step, the text behind its last call the final
// block. One without such a text gets a block of its own: a document without would be that
// of a session that goes on. Nothing depends on the clock or on chance. The program escapes
// nothing; where a text would read as the boundary of a step, such lines get a blank before
// them. This is told to to.Lost, as is what the format has no place for.
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
	e.task = taskOf(e.doc.Conversation)
	if e.task >= 0 {
		m := e.doc.Conversation[e.task]
		h.task = e.safe(e.task, glue.Join(m.Content, m.Glue()), "## Steps")
	}
	out := appendHeader(nil, h)
	body := len(out)
	var written []piece
	for i, m := range e.doc.Conversation {
		written = append(written, e.pieces(i, m)...)
	}
	if !slices.ContainsFunc(written, func(p piece) bool { return p.isFinal }) {
		e.lose("that it has no end: a final block without a message, of the status %s, is made up", failedStatus)
		if last := len(written) - 1; last >= 0 && written[last].raw != "" && !strings.HasSuffix(written[last].raw, "\n") {
			written[last].raw += "\n" // what was cut off there
		}
		written = append(written, piece{isFinal: true, status: failedStatus, endedAt: e.last})
	}
	for _, p := range written {
		out = appendPiece(out, p)
	}
	read := readHeader(string(out))
	if read.cut || read.task != h.task || read.body != body {
		return out, false
	}
	return out, slices.EqualFunc(written, split(string(out[body:]), 0), func(a, b piece) bool {
		if b.ambiguous && !a.ambiguous {
			return false
		}
		b.offset, b.ambiguous = 0, a.ambiguous
		return a == b
	})
}

// taskOf returns which message is the task: the first of the user, rather than of the
// system; -1 when there is none.
func taskOf(conversation []domarkx.WrittenMessage) int {
	is := func(m domarkx.WrittenMessage) bool { return m.Role == domarkx.User }
	said := func(m domarkx.WrittenMessage) bool {
		return is(m) && (m.Metadata == nil || text(*m.Metadata, "role") != "system")
	}
	if i := slices.IndexFunc(conversation, said); i >= 0 {
		return i
	}
	return slices.IndexFunc(conversation, is)
}

// encoder writes one document.
type encoder struct {
	doc    *domarkx.Document
	escape bool
	lost   []string
	task   int    // the message that is the task; -1 for none
	steps  int    // the number of the last step
	last   string // when the last piece was
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
			said := m.Value.Text()
			if i < 0 || m.Value.Kind() != domarkx.String || strings.ContainsAny(said, "\r\n") || !utf8.ValidString(said) ||
				m.Name == keyID && !isID(said) || m.Name == keyStartedAt && !isTime(said) {
				e.lose("user_metadata.%s", m.Name)
				continue
			}
			made.values[i] = said
		}
	}
	at := e.fallback()
	if made.values[0] == "" {
		made.values[0] = at.Format("20060102-150405")
	}
	if made.values[1] == "" {
		made.values[1] = at.Format(isoTime)
	}
	e.last = made.values[1]
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

// at returns when message i says that it was.
func (e *encoder) at(i int, m domarkx.WrittenMessage, metadata domarkx.Value, key string) string {
	said, ok := metadata.Get(key)
	switch {
	case ok && said.Kind() == domarkx.String && isTime(said.Text()):
		e.last = said.Text()
		return e.last
	case ok:
		e.lose("message %d: message_metadata.%s", i, key)
	}
	e.last = e.fallback().Format(isoTime)
	if m.Date != 0 {
		e.last = time.Unix(m.Date, 0).UTC().Format(isoTime)
	}
	return e.last
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
		switch {
		case i != e.task:
			e.lose("message %d, of the user: a session has one task", i)
		case slices.ContainsFunc(e.doc.Conversation[:i], func(m domarkx.WrittenMessage) bool { return m.Role == domarkx.Assistant }):
			e.lose("message %d: that it comes behind others, for the task comes first", i)
		}
		return nil
	}
	if unread, ok := metadata.Get(keyUnread); ok && unread.IsTrue() && len(m.Content) == 1 {
		return []piece{{raw: m.Content[0].Text}}
	}
	calls := slices.ContainsFunc(m.Content, func(b domarkx.Block) bool { return isCode(b, "tool-call") })
	_, ended := metadata.Get(keyStatus)
	isLast := i == len(e.doc.Conversation)-1
	if !calls && (ended || isLast) {
		return []piece{e.final(i, m, metadata, glue.Join(m.Content, m.Glue()))}
	}
	pieces, behind := e.stepsOf(i, m, metadata)
	if len(behind) > 0 && isLast {
		return append(pieces, e.final(i, m, metadata, markdown.RenderContent(behind)))
	}
	if len(behind) > 0 || len(pieces) == 0 {
		e.lose("message %d: that nothing was done after its last text, which becomes a step with an empty action", i)
		pieces = append(pieces, e.step(i, m, metadata, len(pieces), behind, "{}", ""))
	}
	return pieces
}

// The statuses of a final block.
const (
	successStatus = "SUCCESS"
	failedStatus  = "FAILED"
)

// final returns the final block of message i with that text.
func (e *encoder) final(i int, m domarkx.WrittenMessage, metadata domarkx.Value, text string) piece {
	status := successStatus
	if said, ok := metadata.Get(keyStatus); ok {
		if status = said.Text(); said.Kind() != domarkx.String || status != successStatus && status != failedStatus {
			e.lose("message %d: message_metadata.%s", i, keyStatus)
			status = failedStatus
		}
	}
	return piece{isFinal: true, status: status, endedAt: e.at(i, m, metadata, keyEndedAt), message: e.safe(i, text, "## Final", "### Step ")}
}

func isCode(b domarkx.Block, language string) bool {
	return b.Type == domarkx.CodeBlock && b.Language == language
}

// stepsOf returns a step for each call of message i, and what stands behind the last.
func (e *encoder) stepsOf(i int, m domarkx.WrittenMessage, metadata domarkx.Value) (pieces []piece, behind []domarkx.Block) {
	for b := 0; b < len(m.Content); b++ {
		block := m.Content[b]
		if !isCode(block, "tool-call") {
			behind = append(behind, block)
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
		pieces = append(pieces, e.step(i, m, metadata, len(pieces), behind, action, result))
		behind = nil
	}
	return pieces, behind
}

// step returns a step of message i, behind so many others of it.
func (e *encoder) step(i int, m domarkx.WrittenMessage, metadata domarkx.Value, before int, thought []domarkx.Block, action, result string) piece {
	said, own := metadata.Get(keyStep)
	number := said.Text()
	if own && (said.Kind() != domarkx.String || !isNumber(number)) {
		e.lose("message %d: message_metadata.%s", i, keyStep)
		own = false
	}
	if !own || before > 0 {
		number = strconv.Itoa(e.steps + 1)
	}
	if n, err := strconv.Atoi(number); err == nil {
		e.steps = n
	}
	return piece{isStep: true, number: number, at: e.at(i, m, metadata, keyAt),
		thought:   e.safe(i, thoughtOf(thought), "```", "### Step ", "## Final"),
		action:    e.safe(i, action, "```", "### Step ", "## Final"),
		result:    e.safe(i, result, "```", "### Step ", "## Final"),
		ambiguous: own} // a step of the program's own stays as it is
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
	if !utf8.ValidString(s) {
		e.lose("message %d: half a surrogate pair, for which U+FFFD stands", i)
		s = WellFormed(s)
	}
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
