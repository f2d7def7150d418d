package agentchatter

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
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
	e := encoder{doc: doc, to: to, about: domarkx.ObjectValue()}
	if doc.Header.UserMetadata != nil {
		e.about = *doc.Header.UserMetadata
	}
	e.header()
	v := e.session()
	return v.AppendJSON(nil, "", "  "), nil
}

// encoder writes one document.
type encoder struct {
	doc   *domarkx.Document
	to    format.Target
	about domarkx.Value // user_metadata: the document's object but its messages
}

func (e *encoder) session() domarkx.Value {
	messages, contents := e.messages()
	created, updated := e.times(messages)
	context, _ := e.about.Get(keyContext)
	return object(
		keySchemaVersion, domarkx.StringValue(version),
		keyTeamID, domarkx.StringValue(e.team()),
		keySessionID, domarkx.StringValue(e.sessionID()),
		keyCreatedAt, domarkx.StringValue(created),
		keyUpdatedAt, domarkx.StringValue(updated),
		keyContext, object(
			keyMessages, domarkx.ArrayValue(messages...),
			keyTeamTask, orNull(context, keyTeamTask),
			keyTimestamp, contextTime(context, updated),
			keyVersion, domarkx.NumberValue("1")),
		keyMetadata, e.metadata(messages, contents))
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
	h := e.doc.Header
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

// sessionID is the session's own, else one that follows from its name and its first
// message, spelled as the UUID v4 that the specification asks for.
func (e *encoder) sessionID() string {
	if id := text(e.about, keySessionID); id != "" {
		return id
	}
	digest := sha256.New()
	fmt.Fprintf(digest, "agent-chatter session\x00%s\x00", e.to.Session)
	if len(e.doc.Conversation) > 0 {
		first := e.doc.Conversation[0]
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
	if t, ok := format.ParseTime(e.doc.Header.ImportTimestamp); ok {
		return t
	}
	return time.Unix(0, 0)
}

// times returns when the session was made and last changed: what it says itself,
// but no earlier than its last message, nor, when it was changed, the snapshot.
func (e *encoder) times(messages []domarkx.Value) (created, updated string) {
	first, last := e.fallback(), e.fallback()
	for i, m := range messages {
		t, ok := format.ParseTime(text(m, keyTimestamp))
		if ok && (i == 0 || t.Before(first)) {
			first = t
		}
		if ok && t.After(last) {
			last = t
		}
	}
	created, updated = text(e.about, keyCreatedAt), text(e.about, keyUpdatedAt)
	if created = zoned(created); created == "" {
		created = iso(first)
	}
	updated = zoned(updated)
	if t, ok := format.ParseTime(updated); !ok || t.Before(last) {
		updated = iso(last)
	}
	return created, updated
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

func (e *encoder) metadata(messages []domarkx.Value, contents []string) domarkx.Value {
	own, _ := e.about.Get(keyMetadata)
	out := domarkx.ObjectValue()
	first := ""
	if n := len(messages); n > 0 {
		first = contents[0]
		last, _ := messages[n-1].Get(keySpeaker)
		out = out.With(keyLastSpeakerID, domarkx.StringValue(text(last, "id")))
	}
	out = out.With(keyMessageCount, domarkx.NumberValue(strconv.Itoa(len(messages))))
	said := summary(len(messages), first)
	if has(own, keySummary) {
		said = text(own, keySummary)
	}
	return out.With(keySummary, domarkx.StringValue(said))
}

// messages returns the items of context.messages, and their contents.
func (e *encoder) messages() ([]domarkx.Value, []string) {
	from := speakers(e.doc.Conversation)
	taken := map[string]bool{}
	for _, m := range e.doc.Conversation {
		if m.Metadata != nil {
			taken[text(*m.Metadata, keyID)] = true
		}
	}
	items := make([]domarkx.Value, len(e.doc.Conversation))
	contents := make([]string, len(e.doc.Conversation))
	for i, m := range e.doc.Conversation {
		contents[i] = e.content(i, m.Message)
		metadata := domarkx.ObjectValue()
		if m.Metadata != nil {
			metadata = *m.Metadata
		}
		item := object(
			keyID, domarkx.StringValue(messageID(i, m, metadata, taken)),
			keyTimestamp, domarkx.StringValue(e.timestamp(m, metadata)),
			keySpeaker, from[i].value(),
			keyContent, domarkx.StringValue(contents[i]))
		if v, ok := metadata.Get(keyRouting); ok {
			if v, ok = e.routing(i, v); ok {
				item = item.With(keyRouting, v)
			}
		}
		e.loseMetadata(i, m.Message, metadata, from[i])
		items[i] = item
	}
	return items, contents
}

// messageID is a message's own id, else one that follows from that under which the
// session keeps it, else from its place.
func messageID(i int, m domarkx.WrittenMessage, metadata domarkx.Value, taken map[string]bool) string {
	if id := text(metadata, keyID); id != "" {
		return id
	}
	first := "msg-" + strconv.Itoa(i+1)
	if !m.ID.IsZero() {
		first = "msg-" + m.ID.String()
	}
	id := first
	for n := 2; taken[id]; n++ {
		id = fmt.Sprintf("%s-%d", first, n)
	}
	taken[id] = true
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
func (e *encoder) loseMetadata(i int, m domarkx.Message, metadata domarkx.Value, from speaker) {
	where := fmt.Sprintf("message %d: message_metadata", i)
	e.check(where, metadata, map[string]func(domarkx.Value) bool{
		keyID:                isFilled,
		keyTimestamp:         func(v domarkx.Value) bool { _, ok := format.ParseTime(v.Text()); return ok && isString(v) },
		keySpeaker:           func(v domarkx.Value) bool { return isString(v) || isObject(v) },
		keyRouting:           isObject,
		domarkx.MetadataGlue: func(domarkx.Value) bool { return true },
		keyRole:              func(v domarkx.Value) bool { return from.kind == typeSystem && v.Text() == typeSystem },
	})
	said, _ := metadata.Get(keySpeaker)
	e.check(where+"."+keySpeaker, migrate(said), map[string]func(domarkx.Value) bool{
		"id": isString, "name": isString, "displayName": isString,
		"type": func(v domarkx.Value) bool { return isString(v) && v.Text() == from.kind },
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
