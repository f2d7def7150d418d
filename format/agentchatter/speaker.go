package agentchatter

import (
	"cmp"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// The types of speakers.
const (
	typeAI     = "ai"
	typeHuman  = "human"
	typeSystem = "system"
)

// migrate converts a speaker in the form of older versions (roleId, roleName, roleTitle) to the
// current form, as the program does. It returns other values unchanged.
func migrate(v jsonvalue.Value) jsonvalue.Value {
	if _, ok := v.Get("roleId"); !ok || v.Kind() != jsonvalue.Object {
		return v
	}
	if _, ok := v.Get(keyID); ok {
		return v
	}
	var out []jsonvalue.Member
	set := func(name string, from ...string) {
		for _, old := range from {
			if m, ok := v.Get(old); ok && m.Kind() != jsonvalue.Null {
				out = append(out, jsonvalue.Member{Name: name, Value: m})
				return
			}
		}
	}
	set("id", "roleId")
	set("name", "name", "roleName")
	set("displayName", "displayName", "roleTitle", "roleName")
	set("type", "type")
	for _, m := range v.Members() {
		switch m.Name {
		case "roleId", "roleName", "roleTitle":
		default:
			out = append(out, m)
		}
	}
	return jsonvalue.ObjectValue(jsonvalue.Distinct(out)...)
}

// A speaker is the author of a message.
type speaker struct{ id, name, display, kind string }

func (s speaker) value() jsonvalue.Value {
	return transcript.Object("id", s.id, "name", s.name, "displayName", s.display, "type", s.kind)
}

// kindOf returns the kind that the speaker of a message must have. It depends on the role in the
// message's heading.
func kindOf(m domarkx.Message) string {
	switch {
	case m.Role == domarkx.Assistant:
		return typeAI
	case transcript.Text(m.Meta(), keyRole) == typeSystem:
		return typeSystem
	}
	return typeHuman
}

// stated returns the speaker that a message states, and whether it states one. The message may hold an
// object in the old or new form, or only a name.
func stated(m domarkx.Message) (speaker, bool) {
	v, ok := m.Meta().Get(keySpeaker)
	if !ok {
		return speaker{}, false
	}
	s := speaker{kind: kindOf(m)}
	if v.Kind() == jsonvalue.String {
		s.id = v.Text()
	} else {
		v = migrate(v)
		s.id, s.name, s.display = transcript.Text(v, "id"), transcript.Text(v, "name"), transcript.Text(v, "displayName")
	}
	s.id = cmp.Or(s.id, s.name, s.display)
	if s.name == "" && !has(v, "name") {
		s.name = s.id
	}
	if s.display == "" && !has(v, "displayName") {
		s.display = s.name
	}
	return s, s.id != "" || has(v, "id")
}

// has reports whether an object has a string member called name.
func has(v jsonvalue.Value, name string) bool {
	m, ok := v.Get(name)
	return ok && m.Kind() == jsonvalue.String
}

// unnamed are the speakers that are written for messages without one, if the session has no other
// speaker of that kind.
func unnamed(kind string) speaker {
	display := map[string]string{typeAI: "Assistant", typeSystem: "System", typeHuman: "Human"}[kind]
	name := strings.ToLower(display)
	return speaker{name, name, display, kind}
}

// notice records the speaker of a message, for later calls of speaker.
func (e *encoder) notice(m domarkx.Message) {
	who, ok := stated(m)
	if !ok {
		return
	}
	if other, ok := e.only[who.kind]; ok && other != who {
		e.several[who.kind] = true
	}
	who.id, who.name, who.display = strings.Clone(who.id), strings.Clone(who.name), strings.Clone(who.display) // or they keep the message
	e.only[who.kind] = who
}

// speaker returns the speaker of a message. notice must have been called for all messages before. A
// message without a speaker gets the only speaker of its kind.
func (e *encoder) speaker(m domarkx.Message) speaker {
	who, ok := stated(m)
	if ok {
		return who
	}
	kind := kindOf(m)
	if who, ok = e.only[kind]; ok && !e.several[kind] {
		return who
	}
	return unnamed(kind)
}
