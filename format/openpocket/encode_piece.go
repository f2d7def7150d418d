package openpocket

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// header returns the session's own header, with the session's time for missing values.
func (e *encoder) header() header {
	e.to.LoseHeader(e.doc, "")
	made := header{values: make([]string, len(headerKeys))}
	for _, m := range e.doc.Meta().Members() {
		i := slices.Index(headerKeys, m.Name)
		said := m.Value.Text()
		if i < 0 || m.Value.Kind() != jsonvalue.String || strings.ContainsAny(said, "\r\n") || !utf8.ValidString(said) ||
			m.Name == keyID && !isID(said) || m.Name == keyStartedAt && !isTime(said) {
			e.to.Lose("user_metadata.%s", m.Name)
			continue
		}
		made.values[i] = said
	}
	at := format.SnapshotTime(e.doc)
	made.values[0], made.values[1] = cmp.Or(made.values[0], at.Format(idTime)), cmp.Or(made.values[1], at.Format(format.ISOTime))
	e.last = made.values[1]
	return made
}

// at returns the time of message i.
func (e *encoder) at(i int, m domarkx.WrittenMessage, metadata jsonvalue.Value, key string) string {
	said, ok := metadata.Get(key)
	switch {
	case ok && said.Kind() == jsonvalue.String && isTime(said.Text()):
		e.last = said.Text()
		return e.last
	case ok:
		e.to.LoseOf(i, "message_metadata.%s", key)
	}
	e.last = format.SnapshotTime(e.doc).Format(format.ISOTime)
	if m.Date != 0 {
		e.last = time.Unix(m.Date, 0).UTC().Format(format.ISOTime)
	}
	return e.last
}

// piecesOf returns the pieces of a message: its steps, or its final block.
func (e *encoder) piecesOf(i int, m domarkx.WrittenMessage) []piece {
	metadata := m.Meta()
	for _, member := range metadata.Members() {
		if !slices.Contains([]string{keyStep, keyAt, keyAction, keyHumanAuth, keyStatus, keyEndedAt, keyUnread, domarkx.MetadataGlue}, member.Name) {
			e.to.LoseOf(i, "message_metadata.%s", member.Name)
		}
	}
	e.to.LoseMembers(i, m.Message)
	if m.Role == domarkx.User {
		switch {
		case i != e.task:
			e.to.LoseOf(i, "that it is of the user: a session has one task")
		case e.answer >= 0 && e.answer < i:
			e.to.LoseOf(i, "that it follows others: the task comes first")
		}
		return nil
	}
	if isUnread(m.Message) {
		return []piece{{raw: m.Content[0].Text}}
	}
	calls := slices.ContainsFunc(m.Content, func(b domarkx.Block) bool { return isCode(b, "tool-call") })
	_, ended := metadata.Get(keyStatus)
	isLast := i == e.messages.Len()-1
	if !calls && (ended && i == e.end || isLast) {
		return []piece{e.final(i, m, metadata, mdtext.Join(m.Content, m.Glue()))}
	}
	if ended && !calls {
		e.to.LoseOf(i, "that the session ended there: it continues")
	}
	pieces, behind := e.stepsOf(i, m, metadata)
	if len(behind) > 0 && isLast {
		return append(pieces, e.final(i, m, metadata, markdown.RenderContent(behind)))
	}
	if len(behind) > 0 || len(pieces) == 0 {
		e.to.LoseOf(i, "that nothing was done after its last text, which becomes a step with an empty action")
		pieces = append(pieces, e.step(i, m, metadata, len(pieces), behind, "{}", ""))
	}
	return pieces
}

// isUnread reports whether a message is a piece of a document that could not be read.
func isUnread(m domarkx.Message) bool {
	if m.Role != domarkx.Assistant || len(m.Content) != 1 {
		return false
	}
	return transcript.Get(m.Meta(), keyUnread).IsTrue()
}

// The statuses of a final block.
const (
	successStatus = "SUCCESS"
	failedStatus  = "FAILED"
)

// final returns the final block of message i with that text.
func (e *encoder) final(i int, m domarkx.WrittenMessage, metadata jsonvalue.Value, text string) piece {
	status := successStatus
	if said, ok := metadata.Get(keyStatus); ok {
		if status = said.Text(); said.Kind() != jsonvalue.String || status != successStatus && status != failedStatus {
			e.to.LoseOf(i, "message_metadata.%s", keyStatus)
			status = failedStatus
		}
	}
	return piece{isFinal: true, status: status, endedAt: e.at(i, m, metadata, keyEndedAt), message: e.safe(i, text, "## Final", "### Step ")}
}

func isCode(b domarkx.Block, language string) bool {
	return b.Type == domarkx.CodeBlock && b.Language == language
}

// stepsOf returns a step for each call of message i, and the text after the last.
func (e *encoder) stepsOf(i int, m domarkx.WrittenMessage, metadata jsonvalue.Value) (pieces []piece, behind []domarkx.Block) {
	for b := 0; b < len(m.Content); b++ {
		block := m.Content[b]
		if !isCode(block, "tool-call") {
			behind = append(behind, block)
			continue
		}
		action := actionOf(block.Text, metadata)
		for _, what := range lostOfCall(block.Text) {
			e.to.LoseOf(i, "%s", what)
		}
		result := ""
		if b+1 < len(m.Content) && isCode(m.Content[b+1], "tool-result") {
			b++
			result = textOf(m.Content[b].Text)
			for _, what := range lostOfResult(m.Content[b].Text) {
				e.to.LoseOf(i, "%s", what)
			}
		}
		number := transcript.Text(metadata, keyStep)
		if picture, ok := pictureOf(number, result); ok && b+1 < len(m.Content) && m.Content[b+1].Type == domarkx.TextBlock && m.Content[b+1].Text == picture.Text {
			b++
		}
		pieces = append(pieces, e.step(i, m, metadata, len(pieces), behind, action, result))
		behind = nil
	}
	return pieces, behind
}

// step returns a step of message i. before is the number of the message's pieces so far.
func (e *encoder) step(i int, m domarkx.WrittenMessage, metadata jsonvalue.Value, before int, thought []domarkx.Block, action, result string) piece {
	said, own := metadata.Get(keyStep)
	number := said.Text()
	if own && (said.Kind() != jsonvalue.String || !isNumber(number)) {
		e.to.LoseOf(i, "message_metadata.%s", keyStep)
		own = false
	}
	if !own || before > 0 {
		number = strconv.Itoa(e.steps + 1)
	}
	if n, err := strconv.Atoi(number); err == nil {
		e.steps = n
	}
	when := keyAt
	if _, ok := metadata.Get(keyAt); !ok {
		when = keyEndedAt // the time of the former final block
	}
	return piece{isStep: true, number: number, at: e.at(i, m, metadata, when),
		thought:   e.safe(i, thoughtOf(thought), "```", "### Step ", "## Final"),
		action:    e.safe(i, action, "```", "### Step ", "## Final"),
		result:    e.safe(i, result, "```", "### Step ", "## Final"),
		ambiguous: own} // a step of the program's own stays as it is
}

func thoughtOf(blocks []domarkx.Block) string {
	switch {
	case len(blocks) == 0:
		return noThought
	case len(blocks) == 1 && isCode(blocks[0], "thought"):
		return blocks[0].Text
	}
	return markdown.RenderContent(blocks)
}

// safe puts a space before lines that would read as a boundary of the document, if the document would
// otherwise be read differently.
func (e *encoder) safe(i int, s string, boundaries ...string) string {
	if !utf8.ValidString(s) {
		e.to.LoseOf(i, "half a surrogate pair, which becomes U+FFFD")
		s = WellFormed(s)
	}
	for _, boundary := range boundaries {
		if !e.escape {
			break
		}
		var changed bool
		if s, changed = blanked(s, boundary); changed {
			e.to.LoseOf(i, "lines that begin with %q, which get a blank before them", boundary)
		}
	}
	return s
}
