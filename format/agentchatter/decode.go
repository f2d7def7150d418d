package agentchatter

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/glue"
)

const bom = "\ufeff"

// decode reads a session. What the program itself would take, and a document that is
// damaged, is read as far as it goes, with the damage in the document; anything else is a [*domarkx.SyntaxError], another schemaVersion
// [domarkx.ErrUnsupported] too.
func (c codec) decode(src format.Source) (*domarkx.Document, error) {
	data := bytes.TrimPrefix(src.Data, []byte(bom))
	fail := func(v domarkx.Value, pointer, msg string, err error) error {
		line, column := domarkx.Position(data, v.Offset())
		return &domarkx.SyntaxError{Path: src.Path, Line: line, Column: column, Pointer: pointer, Msg: msg, Err: err}
	}
	v, broken := domarkx.ParsePartial(data)
	var damage []*domarkx.SyntaxError
	if broken != nil {
		var err error
		if v, damage, err = salvage(src.Path, data, v, broken); err != nil {
			return nil, err
		}
	}
	if v.Kind() != domarkx.Object {
		return nil, fail(v, "", "is no object, expected a session of agent-chatter", nil)
	}
	stated, ok := v.Get(keySchemaVersion)
	switch {
	case !ok:
		return nil, fail(v, "/"+keySchemaVersion, fmt.Sprintf("required member %q is missing, expected %q", keySchemaVersion, version), domarkx.ErrUnsupported)
	case stated.Kind() != domarkx.String || stated.Text() != version:
		return nil, fail(stated, "/"+keySchemaVersion, fmt.Sprintf("schemaVersion is %s, expected %q, the only one that is known", stated.JSON(), version), domarkx.ErrUnsupported)
	}
	doc := document(v)
	if broken != nil {
		doc.Damage = damage
		return doc, nil
	}
	if report := format.NoUTF8(src.Path, data); report != nil {
		doc.Damage = append(doc.Damage, report)
	}
	checker, err := c.schema()
	if err != nil {
		return nil, err
	}
	for _, report := range checker.Check(v, data) {
		report.Path = src.Path
		doc.Damage = append(doc.Damage, report)
	}
	return doc, nil
}

// document makes a session of a document's object.
func document(v domarkx.Value) *domarkx.Document {
	doc := &domarkx.Document{Header: domarkx.NewHeader()}
	context, _ := v.Get(keyContext)
	messages, _ := context.Get(keyMessages)
	doc.Conversation = make([]domarkx.WrittenMessage, 0, len(messages.Items()))
	for _, m := range messages.Items() {
		doc.Conversation = append(doc.Conversation, domarkx.WrittenMessage{Message: message(m)})
	}
	about := domarkx.ObjectValue()
	for _, m := range v.Members() {
		switch {
		case m.Name == keyContext && m.Value.Kind() == domarkx.Object:
			if messages.Kind() == domarkx.Array {
				m.Value = m.Value.Without(keyMessages)
			}
		case m.Name == keyMetadata && m.Value.Kind() == domarkx.Object:
			if m.Value = ownMetadata(m.Value, messages.Items()); len(m.Value.Members()) == 0 {
				about = about.Without(keyMetadata)
				continue
			}
		}
		about = about.With(m.Name, m.Value)
	}
	doc.Header.UserMetadata = &about
	return doc
}

// ownMetadata is a document's metadata without what follows from its messages.
func ownMetadata(metadata domarkx.Value, messages []domarkx.Value) domarkx.Value {
	var first string
	if len(messages) > 0 {
		first = text(messages[0], keyContent)
	}
	said := text(metadata, keySummary)
	if count, _, ok := strings.Cut(said, ` messages - "`); said == summary(len(messages), first) || ok && isNumber(count) {
		metadata = metadata.Without(keySummary)
	}
	return metadata.Without(keyMessageCount).Without(keyLastSpeakerID)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// message makes a message of an item of context.messages. What is no message object
// is the text of one.
func message(v domarkx.Value) domarkx.Message {
	m := domarkx.Message{Role: domarkx.User}
	if v.Kind() != domarkx.Object {
		m.Content = []domarkx.Block{{Type: domarkx.TextBlock, Text: v.JSON()}}
		return m
	}
	metadata := domarkx.ObjectValue()
	content := ""
	for _, member := range v.Members() {
		switch member.Name {
		case keyContent:
			if content = member.Value.Text(); member.Value.Kind() != domarkx.String && member.Value.Kind() != domarkx.Null {
				content = member.Value.JSON()
			}
			continue
		case keySpeaker:
			member.Value = migrate(member.Value)
		}
		metadata = metadata.With(member.Name, member.Value)
	}
	speaker, _ := metadata.Get(keySpeaker)
	switch text(speaker, "type") {
	case typeAI:
		m.Role = domarkx.Assistant
	case typeSystem:
		metadata = metadata.With(keyRole, domarkx.StringValue(typeSystem))
	}
	var between []string
	if m.Content, between = glue.Split(content); between != nil {
		metadata = metadata.With(domarkx.MetadataGlue, glue.Value(between))
	}
	m.Metadata = &metadata
	return m
}

// messagesOf returns the items of context.messages.
func messagesOf(v domarkx.Value) []domarkx.Value {
	context, _ := v.Get(keyContext)
	messages, _ := context.Get(keyMessages)
	return messages.Items()
}
