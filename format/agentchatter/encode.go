package agentchatter

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/glue"
)

// defaultTeam is the team of sessions that have none.
const defaultTeam = "domarkx"

// Encode writes a session as the program does: JSON indented by two spaces, without a
// final newline, valid by [Schema]. What the session does not say follows from it
// and from to alone. What the format has no place for is told to to.Lost.
func Encode(doc *domarkx.Document, to format.Target) ([]byte, error) {
	write, err := Write(doc.Header, conversation(doc.Conversation), to)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = write(&out)
	return out.Bytes(), err
}

// Write is Encode for messages that need not be in memory. Each is asked for once to see
// what all of them are, and once more whenever the document is written.
func Write(h domarkx.Header, messages format.Messages, to format.Target) (func(w io.Writer) error, error) {
	e := &encoder{doc: h, messages: messages, to: to, about: domarkx.ObjectValue(), only: map[string]speaker{}, several: map[string]bool{}, taken: map[string]bool{}}
	if h.UserMetadata != nil {
		e.about = *h.UserMetadata
	}
	e.header()
	if err := e.survey(); err != nil {
		return nil, err
	}
	e.to.Lost = nil // all is told
	return e.write, nil
}

// encoder writes one document.
type encoder struct {
	doc      domarkx.Header
	messages format.Messages
	to       format.Target
	about    domarkx.Value // user_metadata: the document's object but its messages

	// What the messages say together.
	created, updated string
	sessionID        string
	first            string             // the content of the first
	last             speaker            // of the last
	only             map[string]speaker // the one who speaks of each kind, unless there are several
	several          map[string]bool
	taken            map[string]bool // ids that could be made for a message that has none
}

// write writes the document: what stands around the messages, and each of them in its
// place.
func (e *encoder) write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	frame := e.frame().AppendJSON(nil, "", "  ")
	const empty = "\n    \"messages\": []" // no string has a line end
	at := bytes.Index(frame, []byte(empty)) + len(empty) - 1
	out.Write(frame[:at]) // Flush tells of errors
	given := map[string]bool{}
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

// frame is the document without its messages.
func (e *encoder) frame() domarkx.Value {
	context, _ := e.about.Get(keyContext)
	return object(
		keySchemaVersion, domarkx.StringValue(version),
		keyTeamID, domarkx.StringValue(e.team()),
		keySessionID, domarkx.StringValue(e.sessionID),
		keyCreatedAt, domarkx.StringValue(e.created),
		keyUpdatedAt, domarkx.StringValue(e.updated),
		keyContext, object(
			keyMessages, domarkx.ArrayValue(),
			keyTeamTask, orNull(context, keyTeamTask),
			keyTimestamp, contextTime(context, e.updated),
			keyVersion, domarkx.NumberValue("1")),
		keyMetadata, e.metadata())
}

// object returns an object of names and values in turn.
func object(pairs ...any) domarkx.Value {
	members := make([]domarkx.Member, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		members = append(members, domarkx.Member{Name: pairs[i].(string), Value: pairs[i+1].(domarkx.Value)})
	}
	return domarkx.ObjectValue(members...)
}

func orNull(v domarkx.Value, name string) domarkx.Value {
	if has(v, name) {
		return domarkx.StringValue(text(v, name))
	}
	return domarkx.Value{}
}

// header tells what of the header is lost.
func (e *encoder) header() {
	h := e.doc
	if len(h.ExecutionConfig.Members()) > 0 {
		e.to.Lose("execution_config (session-config, workspace-config)")
	}
	if h.Setup != nil {
		e.to.Lose("setup_script")
	}
	for _, m := range h.MetadataExtra {
		e.to.Lose("metadata.%s", m.Name)
	}
	for _, m := range h.Extra {
		e.to.Lose("%s", m.Name)
	}
	isTime := func(v domarkx.Value) bool { _, ok := format.ParseTime(v.Text()); return ok && isString(v) }
	e.check("user_metadata", e.about, map[string]func(domarkx.Value) bool{
		keySchemaVersion: func(v domarkx.Value) bool { return isString(v) && v.Text() == version },
		keyTeamID:        isFilled, keySessionID: isFilled,
		keyCreatedAt: isTime, keyUpdatedAt: isTime, keyContext: isObject, keyMetadata: isObject,
	})
	context, _ := e.about.Get(keyContext)
	e.check("user_metadata."+keyContext, context, map[string]func(domarkx.Value) bool{
		keyTeamTask:  func(v domarkx.Value) bool { return isString(v) || v.Kind() == domarkx.Null },
		keyTimestamp: func(v domarkx.Value) bool { return v.Kind() == domarkx.Number },
		keyVersion:   func(v domarkx.Value) bool { return v.Kind() == domarkx.Number && v.Text() == "1" },
	})
	metadata, _ := e.about.Get(keyMetadata)
	e.check("user_metadata."+keyMetadata, metadata, map[string]func(domarkx.Value) bool{keySummary: isString})
}

// check tells which members of an object the format has no place for: those that it
// does not know, and those that are of another kind there.
func (e *encoder) check(where string, v domarkx.Value, known map[string]func(domarkx.Value) bool) {
	for _, m := range v.Members() {
		if fits, ok := known[m.Name]; !ok || !fits(m.Value) {
			e.to.Lose("%s.%s", where, m.Name)
		}
	}
}

func isString(v domarkx.Value) bool { return v.Kind() == domarkx.String }
func isFilled(v domarkx.Value) bool { return isString(v) && v.Text() != "" }
func isObject(v domarkx.Value) bool { return v.Kind() == domarkx.Object }

func (e *encoder) team() string {
	for _, team := range []string{text(e.about, keyTeamID), e.to.Team} {
		if team != "" {
			return team
		}
	}
	return defaultTeam
}

// idOf is the session's own id, else one that follows from its name and its first
// message, spelled as the UUID v4 that the specification asks for.
func (e *encoder) idOf(first *domarkx.WrittenMessage) string {
	if id := text(e.about, keySessionID); id != "" {
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

// isoTime is how the program spells times.
const isoTime = "2006-01-02T15:04:05.000Z"

func iso(t time.Time) string { return t.UTC().Format(isoTime) }

// fallback is the time of what says none: that of the snapshot.
func (e *encoder) fallback() time.Time {
	if t, ok := format.ParseTime(e.doc.ImportTimestamp); ok {
		return t
	}
	return time.Unix(0, 0)
}

// times says when the session was made and last changed: what it says itself, but no
// earlier than its last message, nor, when it was changed, the snapshot. Its messages are
// from first to last.
func (e *encoder) times(first, last time.Time) {
	e.created, e.updated = zoned(text(e.about, keyCreatedAt)), zoned(text(e.about, keyUpdatedAt))
	if e.created == "" {
		e.created = iso(first)
	}
	if t, ok := format.ParseTime(e.updated); !ok || t.Before(last) {
		e.updated = iso(last)
	}
}

// zoned is a time as it is spelled, one without a zone in UTC; "" for what is none.
func zoned(s string) string {
	if _, ok := format.ParseTime(s); ok {
		return s
	}
	if t, ok := format.ParseLocalTime(s); ok {
		return iso(t)
	}
	return ""
}

// contextTime is the time of the context in milliseconds.
func contextTime(context domarkx.Value, updated string) domarkx.Value {
	if v, ok := context.Get(keyTimestamp); ok && v.Kind() == domarkx.Number {
		return v
	}
	t, _ := format.ParseTime(updated)
	return domarkx.NumberValue(strconv.FormatInt(t.UnixMilli(), 10))
}

func (e *encoder) metadata() domarkx.Value {
	own, _ := e.about.Get(keyMetadata)
	out := domarkx.ObjectValue()
	n := e.messages.Len()
	if n > 0 {
		out = out.With(keyLastSpeakerID, domarkx.StringValue(e.last.id))
	}
	out = out.With(keyMessageCount, domarkx.NumberValue(strconv.Itoa(n)))
	said := summary(n, e.first)
	if has(own, keySummary) {
		said = text(own, keySummary)
	}
	return out.With(keySummary, domarkx.StringValue(said))
}

// survey looks at all messages, and tells what of them is lost.
func (e *encoder) survey() error {
	first, last := e.fallback(), e.fallback()
	var opening, closing *domarkx.WrittenMessage
	for k := range e.messages.Len() {
		m, err := e.messages.At(k)
		if err != nil {
			return err
		}
		metadata := metadataOf(m)
		if id := text(metadata, keyID); strings.HasPrefix(id, madeID) {
			e.taken[strings.Clone(id)] = true
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

func metadataOf(m domarkx.WrittenMessage) domarkx.Value {
	if m.Metadata == nil {
		return domarkx.ObjectValue()
	}
	return *m.Metadata
}

// item is message k as it stands in the document. given are the ids that were made.
func (e *encoder) item(k int, m domarkx.WrittenMessage, given map[string]bool) domarkx.Value {
	metadata := metadataOf(m)
	item := object(
		keyID, domarkx.StringValue(e.messageID(k, m, metadata, given)),
		keyTimestamp, domarkx.StringValue(e.timestamp(m, metadata)),
		keySpeaker, e.speaker(m.Message).value(),
		keyContent, domarkx.StringValue(e.content(k, m.Message)))
	if v, ok := metadata.Get(keyRouting); ok {
		if v, ok = e.routing(k, v); ok {
			item = item.With(keyRouting, v)
		}
	}
	return item
}

// madeID begins the ids that are made, as it does the program's own.
const madeID = "msg-"

// messageID is a message's own id, else one that follows from that under which the
// session keeps it, else from its place.
func (e *encoder) messageID(k int, m domarkx.WrittenMessage, metadata domarkx.Value, given map[string]bool) string {
	if id := text(metadata, keyID); id != "" {
		return id
	}
	first := madeID + strconv.Itoa(k+1)
	if !m.ID.IsZero() {
		first = madeID + m.ID.String()
	}
	id := first
	for n := 2; e.taken[id] || given[id]; n++ {
		id = fmt.Sprintf("%s-%d", first, n)
	}
	given[id] = true
	return id
}

func (e *encoder) timestamp(m domarkx.WrittenMessage, metadata domarkx.Value) string {
	if said := zoned(text(metadata, keyTimestamp)); said != "" {
		return said
	}
	if m.Date != 0 {
		return iso(time.Unix(m.Date, 0))
	}
	return iso(e.fallback())
}

// content is a message's text; what it cannot hold of the blocks is told.
func (e *encoder) content(i int, m domarkx.Message) string {
	content := glue.Join(m.Content, m.Glue())
	if read, _ := glue.Split(content); !glue.Same(read, m.Content) {
		e.to.Lose("message %d: how its content is divided into blocks", i)
	}
	if slices.ContainsFunc(m.Content, func(b domarkx.Block) bool { return len(b.Extra) > 0 }) {
		e.to.Lose("message %d: members of its content blocks", i)
	}
	for _, extra := range m.Extra {
		e.to.Lose("message %d: %s", i, extra.Name)
	}
	return content
}

// loseMetadata tells which members of a message's metadata the format cannot hold.
func (e *encoder) loseMetadata(i int, metadata domarkx.Value, kind string) {
	where := fmt.Sprintf("message %d: message_metadata", i)
	e.check(where, metadata, map[string]func(domarkx.Value) bool{
		keyID:                isFilled,
		keyTimestamp:         func(v domarkx.Value) bool { _, ok := format.ParseTime(v.Text()); return ok && isString(v) },
		keySpeaker:           func(v domarkx.Value) bool { return isString(v) || isObject(v) },
		keyRouting:           isObject,
		domarkx.MetadataGlue: func(domarkx.Value) bool { return true },
		keyRole:              func(v domarkx.Value) bool { return kind == typeSystem && v.Text() == typeSystem },
	})
	said, _ := metadata.Get(keySpeaker)
	e.check(where+"."+keySpeaker, migrate(said), map[string]func(domarkx.Value) bool{
		"id": isString, "name": isString, "displayName": isString,
		"type": func(v domarkx.Value) bool { return isString(v) && v.Text() == kind },
		// What an older version called the same, beside it: the program drops it too.
		"roleId": isString, "roleName": isString, "roleTitle": isString,
	})
}

// routing returns what of a message's routing the format has a place for, and
// whether that is a routing.
func (e *encoder) routing(i int, v domarkx.Value) (domarkx.Value, bool) {
	if !isObject(v) {
		return v, false
	}
	where := fmt.Sprintf("message %d: message_metadata.%s", i, keyRouting)
	out := domarkx.ObjectValue()
	e.check(where, v, map[string]func(domarkx.Value) bool{
		"rawNextMarkers":     func(v domarkx.Value) bool { return v.Kind() == domarkx.Array },
		"resolvedAddressees": func(v domarkx.Value) bool { return v.Kind() == domarkx.Array },
	})
	markers, _ := v.Get("rawNextMarkers")
	out = out.With("rawNextMarkers", e.items(where+".rawNextMarkers", markers, func(_ string, v domarkx.Value) (domarkx.Value, bool) { return v, isString(v) }))
	addressees, _ := v.Get("resolvedAddressees")
	return out.With("resolvedAddressees", e.items(where+".resolvedAddressees", addressees, e.addressee)), true
}

// items returns the items of an array that the format has a place for.
func (e *encoder) items(where string, v domarkx.Value, keep func(where string, v domarkx.Value) (domarkx.Value, bool)) domarkx.Value {
	kept := make([]domarkx.Value, 0, len(v.Items()))
	for i, item := range v.Items() {
		at := where + "." + strconv.Itoa(i)
		if item, ok := keep(at, item); ok {
			kept = append(kept, item)
		} else {
			e.to.Lose("%s", at)
		}
	}
	return domarkx.ArrayValue(kept...)
}

// addressee returns what of an addressee the format has a place for: in the form in
// which it was written.
func (e *encoder) addressee(where string, v domarkx.Value) (domarkx.Value, bool) {
	if !has(v, "identifier") {
		return v, false
	}
	form := []string{"memberId", "memberName"}
	_, isOld := v.Get("roleId")
	_, isNew := v.Get("memberId")
	if isOld && !isNew {
		form = []string{"roleId", "roleName"}
	}
	textOrNull := func(v domarkx.Value) bool { return isString(v) || v.Kind() == domarkx.Null }
	e.check(where, v, map[string]func(domarkx.Value) bool{"identifier": isString, "memberId": textOrNull, "memberName": textOrNull, "roleId": textOrNull, "roleName": textOrNull})
	return object("identifier", domarkx.StringValue(text(v, "identifier")), form[0], orNull(v, form[0]), form[1], orNull(v, form[1])), true
}
