package agentchatter

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/format/transcript"
)

const bom = "\ufeff"

// Documents of up to maxWhole bytes are read into memory at once. So are damaged documents of up to
// maxMended bytes, because what follows the damage can only be found that way; this needs about ten
// times their size in memory.
const (
	maxWhole  = 1 << 20
	maxMended = 16 << 20
)

// open reads a session. It reads a damaged document, and one that only the program itself
// accepts, as far as possible, and lists the damage in the document. Anything else is a
// [*syntax.Error]; another schemaVersion is also [domarkx.ErrUnsupported].
func (c codec) open(f format.File) iter.Seq2[format.Stream, error] {
	return func(yield func(format.Stream, error) bool) {
		s, mends, err := format.Stream{}, f.Size <= c.whole, error(nil)
		if !mends {
			s, mends, err = c.divided(f)
		}
		if mends && err == nil {
			s, err = atOnce(f)
		}
		yield(s, err)
	}
}

// atOnce reads a whole session into memory. It is used for small and for damaged documents.
func atOnce(f format.File) (format.Stream, error) {
	data, err := format.NewWindow(f).Bytes(0, f.Size)
	if err != nil {
		return format.Stream{}, fmt.Errorf("%s: %w", f.Path, err)
	}
	doc, err := read(f.Path, data)
	if err != nil {
		return format.Stream{}, err
	}
	return format.Stream{Header: doc.Header, Damage: doc.Damage, Messages: format.Conversation(doc.Conversation)}, nil
}

// divided opens a session whose messages are read on demand. It reports whether the document is so
// damaged that it must be read as a whole.
func (c codec) divided(f format.File) (format.Stream, bool, error) {
	p := newPieces(f)
	err := p.read()
	var broken *damagedError
	if errors.As(err, &broken) {
		if f.Size <= c.mended {
			return format.Stream{}, true, nil
		}
		err = nil
	}
	if err != nil {
		return format.Stream{}, false, err
	}
	if broken != nil && identify(p.frame).ID == "" && len(p.items) == 0 {
		damage, err := p.cutOff(broken)
		if err == nil {
			err = damage[len(damage)-1]
		}
		return format.Stream{}, false, err
	}
	if err := checkVersion(p.frame, p.fail); err != nil {
		return format.Stream{}, false, err
	}
	s := format.Stream{Header: header(p.frame, p.Len(), p.first), Messages: p}
	if broken != nil {
		s.Damage, err = p.cutOff(broken)
	} else {
		s.Damage = p.damage.damage(f.Path)
	}
	if p.start > 0 {
		s.Damage = append([]*syntax.Error{format.MarkedJSON(f.Path)}, s.Damage...)
	}
	return s, false, err
}

// checkVersion rejects documents that are not sessions of the known version. fail creates an error
// about a value.
func checkVersion(v jsonvalue.Value, fail func(v jsonvalue.Value, pointer, msg string, err error) error) error {
	if v.Kind() != jsonvalue.Object {
		return fail(v, "", "is not an object, expected a session of agent-chatter", nil)
	}
	stated, ok := v.Get(keySchemaVersion)
	switch {
	case !ok:
		return fail(v, "/"+keySchemaVersion, fmt.Sprintf("required member %q is missing, expected %q", keySchemaVersion, version), domarkx.ErrUnsupported)
	case stated.Kind() != jsonvalue.String || stated.Text() != version:
		return fail(stated, "/"+keySchemaVersion, fmt.Sprintf("schemaVersion is %s, expected %q, the only one that is known", stated.JSON(), version), domarkx.ErrUnsupported)
	}
	return nil
}

func read(path string, data []byte) (*domarkx.Document, error) {
	data, hasMark := bytes.CutPrefix(data, []byte(bom))
	fail := func(v jsonvalue.Value, pointer, msg string, err error) error {
		line, column := syntax.Position(data, v.Offset())
		return &syntax.Error{Path: path, Line: line, Column: column, Pointer: pointer, Msg: msg, Err: err}
	}
	v, broken := jsonvalue.ParsePartial(data)
	var damage []*syntax.Error
	if broken != nil {
		var err error
		if v, damage, err = salvage(path, data, v, broken); err != nil {
			return nil, err
		}
	}
	if err := checkVersion(v, fail); err != nil {
		return nil, err
	}
	doc := document(v)
	if hasMark {
		doc.Damage = append(doc.Damage, format.MarkedJSON(path))
	}
	if broken != nil {
		doc.Damage = append(doc.Damage, damage...)
		return doc, nil
	}
	doc.Damage = append(doc.Damage, sessionSchema().Damage(path, v, data)...)
	return doc, nil
}

// document converts a document's object to a session.
func document(v jsonvalue.Value) *domarkx.Document {
	messages, first := messagesOf(v), ""
	if len(messages) > 0 {
		first = transcript.Text(messages[0], keyContent)
	}
	doc := &domarkx.Document{Header: header(v, len(messages), first), Conversation: make([]domarkx.WrittenMessage, len(messages))}
	for i, m := range messages {
		doc.Conversation[i].Message = message(m)
	}
	return doc
}

// header returns the header of a session with n messages; first is the content of the first.
func header(v jsonvalue.Value, n int, first string) domarkx.Header {
	h := domarkx.NewHeader()
	messages := transcript.Get(v, keyContext, keyMessages)
	about := make([]jsonvalue.Member, 0, len(v.Members()))
	for _, m := range v.Members() {
		switch {
		case m.Name == keyContext && m.Value.Kind() == jsonvalue.Object:
			if messages.Kind() == jsonvalue.Array {
				m.Value = m.Value.Without(keyMessages)
			}
		case m.Name == keyMetadata && m.Value.Kind() == jsonvalue.Object:
			if m.Value = ownMetadata(m.Value, n, first); len(m.Value.Members()) == 0 {
				about = slices.DeleteFunc(about, func(m jsonvalue.Member) bool { return m.Name == keyMetadata })
				continue
			}
		}
		about = append(about, m)
	}
	said := jsonvalue.ObjectValue(jsonvalue.Distinct(about)...)
	h.UserMetadata = &said
	return h
}

// ownMetadata returns a document's metadata without members that derive from its n messages.
func ownMetadata(metadata jsonvalue.Value, n int, first string) jsonvalue.Value {
	said := transcript.Text(metadata, keySummary)
	if count, _, ok := strings.Cut(said, ` messages - "`); said == summary(n, first) || ok && isNumber(count) {
		metadata = metadata.Without(keySummary)
	}
	return metadata.Without(keyMessageCount).Without(keyLastSpeakerID)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// message converts an item of context.messages. An item that is not a message object becomes the
// text of a message.
func message(v jsonvalue.Value) domarkx.Message {
	m := domarkx.Message{Role: domarkx.User}
	if v.Kind() != jsonvalue.Object {
		m.Content = []domarkx.Block{{Type: domarkx.TextBlock, Text: v.JSON()}}
		return m
	}
	members := make([]jsonvalue.Member, 0, len(v.Members()))
	content := ""
	for _, member := range v.Members() {
		switch member.Name {
		case keyContent:
			if content = member.Value.Text(); member.Value.Kind() != jsonvalue.String && member.Value.Kind() != jsonvalue.Null {
				content = member.Value.JSON()
			}
			continue
		case keySpeaker:
			member.Value = migrate(member.Value)
		}
		members = append(members, member)
	}
	metadata := jsonvalue.ObjectValue(jsonvalue.Distinct(members)...)
	switch transcript.Text(metadata, keySpeaker, "type") {
	case typeAI:
		m.Role = domarkx.Assistant
	case typeSystem:
		metadata = metadata.With(keyRole, jsonvalue.StringValue(typeSystem))
	}
	var between []string
	if m.Content, between = mdtext.Split(content); between != nil {
		metadata = metadata.With(domarkx.MetadataGlue, jsonvalue.Strings(between))
	}
	m.Metadata = &metadata
	return m
}

// messagesOf returns the items of context.messages.
func messagesOf(v jsonvalue.Value) []jsonvalue.Value {
	return transcript.Get(v, keyContext, keyMessages).Items()
}

// salvage returns the readable parts of a damaged document and reports the damage. v and broken are
// what ParsePartial returned for the document. It fails if neither the identity of the session nor any
// message can be read.
func salvage(path string, data []byte, v jsonvalue.Value, broken error) (jsonvalue.Value, []*syntax.Error, error) {
	v, gaps := format.Salvage(data, v, broken, isMessage, nil, keyContext, keyMessages)
	damage := format.Damaged(path, data, broken, gaps, "messages")
	if identify(v).ID == "" && len(messagesOf(v)) == 0 {
		return v, nil, damage[0]
	}
	return v, damage, nil
}

// maxItemDepth is the maximum nesting of one message. In a document that is parsed as a whole, a
// message is already inside three levels, which this limit leaves room for.
const maxItemDepth = jsonvalue.MaxDepth - 3

// isMessage reports whether a value, possibly incomplete, is a message: it must include the
// content.
func isMessage(v jsonvalue.Value) bool {
	return isObject(transcript.Get(v, keySpeaker)) && has(v, keyContent) && v.Depth() <= maxItemDepth
}
