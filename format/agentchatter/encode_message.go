package agentchatter

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// item returns message k as written to the document. given holds the generated ids.
func (e *encoder) item(k int, m domarkx.WrittenMessage, given ids) jsonvalue.Value {
	metadata := m.Meta()
	item := transcript.Object(keyID, e.messageID(k, m, metadata, given), keyTimestamp, e.timestamp(m, metadata),
		keySpeaker, e.speaker(m.Message).value(), keyContent, e.content(k, m.Message))
	if v, ok := metadata.Get(keyRouting); ok {
		if v, ok = e.routing(k, v); ok {
			item = item.With(keyRouting, v)
		}
	}
	return item
}

// madeID is the prefix of generated message IDs; the program uses the same one.
const madeID = "msg-"

// messageID returns the ID to write for a message: its own, or else one derived from the ID that the
// session uses for it, or else one derived from its position.
func (e *encoder) messageID(k int, m domarkx.WrittenMessage, metadata jsonvalue.Value, given ids) string {
	if id := transcript.Text(metadata, keyID); id != "" {
		return id
	}
	first := madeID + strconv.Itoa(k+1)
	if !m.ID.IsZero() {
		first = madeID + m.ID.String()
	}
	id := first
	for n := 2; e.taken[keyOf(id)] || given[keyOf(id)]; n++ {
		id = fmt.Sprintf("%s-%d", first, n)
	}
	given[keyOf(id)] = true
	return id
}

// ids is a set of message IDs. It stores only a prefix of each ID's SHA-256, because a session may
// have a million messages.
type ids map[[16]byte]bool

func keyOf(id string) [16]byte {
	sum := sha256.Sum256([]byte(id))
	return [16]byte(sum[:])
}

func (e *encoder) timestamp(m domarkx.WrittenMessage, metadata jsonvalue.Value) string {
	if said := zoned(transcript.Text(metadata, keyTimestamp)); said != "" {
		return said
	}
	if m.Date != 0 {
		return iso(time.Unix(m.Date, 0))
	}
	return iso(format.SnapshotTime(e.doc))
}

// content returns a message's text, and records what the text cannot represent.
func (e *encoder) content(i int, m domarkx.Message) string {
	content := mdtext.Join(m.Content, m.Glue())
	if read, _ := mdtext.Split(content); !mdtext.Same(read, m.Content) {
		e.to.LoseOf(i, "how its content is divided into blocks")
	}
	e.to.LoseMembers(i, m)
	return content
}

// loseMetadata records the members of a message's metadata that the format cannot represent.
func (e *encoder) loseMetadata(i int, metadata jsonvalue.Value, kind string) {
	where := memberPath{i, "message_metadata"}
	e.check(where, metadata, map[string]func(jsonvalue.Value) bool{
		keyID:                isFilled,
		keyTimestamp:         func(v jsonvalue.Value) bool { _, ok := format.ParseTime(v.Text()); return ok && isString(v) },
		keySpeaker:           func(v jsonvalue.Value) bool { return isString(v) || isObject(v) },
		keyRouting:           isObject,
		domarkx.MetadataGlue: func(jsonvalue.Value) bool { return true },
		keyRole:              func(v jsonvalue.Value) bool { return kind == typeSystem && v.Text() == typeSystem },
	})
	e.check(where.in(keySpeaker), migrate(transcript.Get(metadata, keySpeaker)), map[string]func(jsonvalue.Value) bool{
		"id": isString, "name": isString, "displayName": isString,
		"type": func(v jsonvalue.Value) bool { return isString(v) && v.Text() == kind },
		// A second value under an older version's name is dropped, as the program does.
		"roleId": isString, "roleName": isString, "roleTitle": isString,
	})
}

// routing returns the parts of a message's routing that the format can represent. It reports false if
// the value is not a routing.
func (e *encoder) routing(i int, v jsonvalue.Value) (jsonvalue.Value, bool) {
	if !isObject(v) {
		return v, false
	}
	where := memberPath{i, "message_metadata." + keyRouting}
	out := jsonvalue.ObjectValue()
	e.check(where, v, map[string]func(jsonvalue.Value) bool{
		"rawNextMarkers":     func(v jsonvalue.Value) bool { return v.Kind() == jsonvalue.Array },
		"resolvedAddressees": func(v jsonvalue.Value) bool { return v.Kind() == jsonvalue.Array },
	})
	if markers, ok := v.Get("rawNextMarkers"); ok {
		out = out.With("rawNextMarkers", e.items(where.in("rawNextMarkers"), markers, func(_ memberPath, v jsonvalue.Value) (jsonvalue.Value, bool) { return v, isString(v) }))
	}
	if addressees, ok := v.Get("resolvedAddressees"); ok {
		out = out.With("resolvedAddressees", e.items(where.in("resolvedAddressees"), addressees, e.addressee))
	}
	return out, true
}

// items returns the items of an array that the format can represent.
func (e *encoder) items(where memberPath, v jsonvalue.Value, keep func(where memberPath, v jsonvalue.Value) (jsonvalue.Value, bool)) jsonvalue.Value {
	kept := make([]jsonvalue.Value, 0, len(v.Items()))
	for i, item := range v.Items() {
		at := where.in(strconv.Itoa(i))
		if item, ok := keep(at, item); ok {
			kept = append(kept, item)
		} else {
			e.lose(at)
		}
	}
	return jsonvalue.ArrayValue(kept...)
}

// addressee returns the parts of an addressee that the format can represent, in the form (string or
// object) of the input.
func (e *encoder) addressee(where memberPath, v jsonvalue.Value) (jsonvalue.Value, bool) {
	if !has(v, "identifier") {
		return v, false
	}
	form := []string{"memberId", "memberName"}
	_, isOld := v.Get("roleId")
	_, isNew := v.Get("memberId")
	if isOld && !isNew {
		form = []string{"roleId", "roleName"}
	}
	textOrNull := func(v jsonvalue.Value) bool { return isString(v) || v.Kind() == jsonvalue.Null }
	e.check(where, v, map[string]func(jsonvalue.Value) bool{"identifier": isString, "memberId": textOrNull, "memberName": textOrNull, "roleId": textOrNull, "roleName": textOrNull})
	return transcript.Object("identifier", jsonvalue.StringValue(transcript.Text(v, "identifier")), form[0], orNull(v, form[0]), form[1], orNull(v, form[1])), true
}
