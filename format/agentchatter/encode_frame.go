package agentchatter

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// header records the losses of the header.
func (e *encoder) header() {
	e.to.LoseHeader(e.doc, "metadata.")
	isTime := func(v jsonvalue.Value) bool { _, ok := format.ParseTime(v.Text()); return ok && isString(v) }
	about := memberPath{-1, "user_metadata"}
	e.check(about, e.about, map[string]func(jsonvalue.Value) bool{
		keySchemaVersion: func(v jsonvalue.Value) bool { return isString(v) && v.Text() == version },
		keyTeamID:        isFilled, keySessionID: isFilled,
		keyCreatedAt: isTime, keyUpdatedAt: isTime, keyContext: isObject, keyMetadata: isObject,
	})
	e.check(about.in(keyContext), transcript.Get(e.about, keyContext), map[string]func(jsonvalue.Value) bool{
		keyTeamTask:  func(v jsonvalue.Value) bool { return isString(v) || v.Kind() == jsonvalue.Null },
		keyTimestamp: func(v jsonvalue.Value) bool { return v.Kind() == jsonvalue.Number },
		keyVersion:   func(v jsonvalue.Value) bool { return v.Kind() == jsonvalue.Number && v.Text() == "1" },
	})
	e.check(about.in(keyMetadata), transcript.Get(e.about, keyMetadata), map[string]func(jsonvalue.Value) bool{keySummary: isString})
}

// A memberPath is the location of a value in the session.
type memberPath struct {
	message int // index of the message; -1 for the header
	path    string
}

func (p memberPath) in(name string) memberPath { return memberPath{p.message, p.path + "." + name} }

// check records the members of an object that the format cannot represent: unknown ones, and known
// ones of another kind.
func (e *encoder) check(where memberPath, v jsonvalue.Value, known map[string]func(jsonvalue.Value) bool) {
	for _, m := range v.Members() {
		if fits, ok := known[m.Name]; !ok || !fits(m.Value) {
			e.lose(where.in(m.Name))
		}
	}
}

func isString(v jsonvalue.Value) bool { return v.Kind() == jsonvalue.String }
func isFilled(v jsonvalue.Value) bool { return isString(v) && v.Text() != "" }
func isObject(v jsonvalue.Value) bool { return v.Kind() == jsonvalue.Object }

func (e *encoder) team() string {
	return cmp.Or(transcript.Text(e.about, keyTeamID), e.to.Team, defaultTeam)
}

// idOf returns the ID to write: the session's own, or else one derived from the session's name and
// first message, in the form of a UUID v4 as the specification requires.
func (e *encoder) idOf(first *domarkx.WrittenMessage) string {
	if id := transcript.Text(e.about, keySessionID); id != "" {
		return id
	}
	digest := sha256.New()
	fmt.Fprintf(digest, "agent-chatter session\x00%s\x00", e.to.Session)
	if first != nil {
		if first.ID.IsZero() {
			digest.Write(first.Message.Value().AppendJSON(nil, "", ""))
		}
		digest.Write(first.ID[:])
	}
	id := uuid.UUID(digest.Sum(nil)[:16])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

func iso(t time.Time) string { return t.UTC().Format(format.ISOTime) }

// times returns when the session was created and when it last changed. It prefers the times that the
// session states. The change is not before the last message nor, if the session was edited, before the
// snapshot. first and last are the times of the first and last message.
func (e *encoder) times(first, last time.Time) {
	e.created, e.updated = cmp.Or(zoned(transcript.Text(e.about, keyCreatedAt)), iso(first)), zoned(transcript.Text(e.about, keyUpdatedAt))
	if t, ok := format.ParseTime(e.updated); !ok || t.Before(last) {
		e.updated = iso(last)
	}
}

// zoned returns a time as it is spelled, in UTC if it has no zone, and "" if s is not a time.
func zoned(s string) string {
	if _, ok := format.ParseTime(s); ok {
		return s
	}
	if t, ok := format.ParseLocalTime(s); ok {
		return iso(t)
	}
	return ""
}

// contextTime returns the time of the context, in milliseconds since 1970.
func contextTime(context jsonvalue.Value, updated string) jsonvalue.Value {
	if v, ok := context.Get(keyTimestamp); ok && v.Kind() == jsonvalue.Number {
		return v
	}
	t, _ := format.ParseTime(updated)
	return jsonvalue.NumberValue(strconv.FormatInt(t.UnixMilli(), 10))
}

func (e *encoder) metadata() jsonvalue.Value {
	own, _ := e.about.Get(keyMetadata)
	n := e.messages.Len()
	var last any
	if n > 0 {
		last = e.last.id
	}
	said := summary(n, e.first)
	if has(own, keySummary) {
		said = transcript.Text(own, keySummary)
	}
	return transcript.Object(keyLastSpeakerID, last, keyMessageCount, int64(n), keySummary, said)
}

func (e *encoder) lose(what memberPath) { e.to.LoseOf(what.message, "%s", what.path) }
