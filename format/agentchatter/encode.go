package agentchatter

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// defaultTeam is the team ID that is written for sessions without one.
const defaultTeam = "domarkx"

// Write writes a session like the program does: JSON indented by two spaces, without a final
// newline, valid by [Schema]. Missing values are derived from the session and from to only. Losses
// are recorded in to.Losses. It requests each message once when it is called, and once more each time
// that the returned function writes the document.
func Write(h domarkx.Header, messages format.Messages, to format.Target) (func(w io.Writer) error, error) {
	e := &encoder{doc: h, messages: messages, to: to, about: h.Meta(), only: map[string]speaker{}, several: map[string]bool{}, taken: ids{}}
	e.header()
	if err := e.survey(); err != nil {
		return nil, err
	}
	e.to.Losses = nil // losses are recorded once
	return e.write, nil
}

// encoder writes one document.
type encoder struct {
	doc      domarkx.Header
	messages format.Messages
	to       format.Target
	about    jsonvalue.Value // user_metadata: the document's object without its messages

	// Properties that depend on all messages.
	created, updated string
	sessionID        string
	first            string             // the content of the first message
	last             speaker            // of the last message
	only             map[string]speaker // for each kind of speaker, the only one of that kind; unset if there are several
	several          map[string]bool
	taken            ids // ids that must not be generated again
}

// write writes the document: the frame, with each message in its place.
func (e *encoder) write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	frame := e.frame().AppendJSON(nil, "", "  ")
	const empty = "\n    \"messages\": []" // no string has a line end
	at := bytes.Index(frame, []byte(empty)) + len(empty) - 1
	out.Write(frame[:at]) // Flush returns the error
	given := ids{}
	var text []byte
	for k := range e.messages.Len() {
		m, err := e.messages.At(k)
		if err != nil {
			return err
		}
		if text = text[:0]; k > 0 {
			text = append(text, ',')
		}
		text = append(text, "\n      "...)
		text = e.item(k, m, given).AppendJSON(text, "      ", "  ")
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	if e.messages.Len() > 0 {
		out.WriteString("\n    ")
	}
	out.Write(frame[at:])
	return out.Flush()
}

// frame returns the document without its messages.
func (e *encoder) frame() jsonvalue.Value {
	context, _ := e.about.Get(keyContext)
	return transcript.Object(
		keySchemaVersion, version, keyTeamID, e.team(), keySessionID, e.sessionID, keyCreatedAt, e.created, keyUpdatedAt, e.updated,
		keyContext, transcript.Object(keyMessages, transcript.List(), keyTeamTask, orNull(context, keyTeamTask),
			keyTimestamp, contextTime(context, e.updated), keyVersion, int64(1)),
		keyMetadata, e.metadata())
}

func orNull(v jsonvalue.Value, name string) jsonvalue.Value {
	if has(v, name) {
		return jsonvalue.StringValue(transcript.Text(v, name))
	}
	return jsonvalue.Value{}
}

// survey visits all messages and records losses.
func (e *encoder) survey() error {
	first, last := format.SnapshotTime(e.doc), format.SnapshotTime(e.doc)
	var opening, closing *domarkx.WrittenMessage
	for k := range e.messages.Len() {
		m, err := e.messages.At(k)
		if err != nil {
			return err
		}
		metadata := m.Meta()
		if id := transcript.Text(metadata, keyID); strings.HasPrefix(id, madeID) {
			e.taken[keyOf(id)] = true
		}
		e.notice(m.Message)
		if t, ok := format.ParseTime(e.timestamp(m, metadata)); ok {
			if k == 0 || t.Before(first) {
				first = t
			}
			if t.After(last) {
				last = t
			}
		}
		content := e.content(k, m.Message)
		if v, ok := metadata.Get(keyRouting); ok {
			e.routing(k, v)
		}
		e.loseMetadata(k, metadata, kindOf(m.Message))
		if k == 0 {
			opening, e.first = &m, content
		}
		closing = &m
	}
	if closing != nil {
		e.last = e.speaker(closing.Message)
	}
	e.times(first, last)
	e.sessionID = e.idOf(opening)
	return nil
}
