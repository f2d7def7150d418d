// Package snapshotjson reads and writes the session snapshot format of the
// domarkx specification, a JSON document. SPEC.md beside this code says how
// strictly it is read and how it is written; snapshot.schema.json is the same as a
// JSON Schema.
package snapshotjson

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

const bom = "\ufeff"

// Codec returns the codec for snapshot documents.
func Codec() format.Codec {
	return format.Codec{
		Name:       "json",
		Extensions: []string{".json"},
		Detect:     Detect,
		Decode:     Decode,
		Encode:     func(doc *domarkx.Document, _ format.Target) ([]byte, error) { return Encode(doc) },
	}
}

// Decode reads a snapshot document. It keeps unknown members, and sets no layouts. Errors in the
// document are [*syntax.Error] values with a JSON pointer; an unknown version is also
// [domarkx.ErrUnsupported].
func Decode(src format.Source) (*domarkx.Document, error) {
	data := bytes.TrimPrefix(src.Data, []byte(bom))
	doc, err := decode(data)
	if err == nil {
		return doc, nil
	}
	var at *syntax.Error
	if err = domarkx.Locate(err, data); !errors.As(err, &at) {
		return nil, fmt.Errorf("reading %q: %w", src.Path, err)
	}
	located := *at
	located.Path = src.Path
	return nil, &located
}

func decode(data []byte) (*domarkx.Document, error) {
	v, err := jsonvalue.ParseValue(data)
	if err != nil {
		return nil, err
	}
	doc := &domarkx.Document{}
	if doc.Header, err = domarkx.ParseHeader(v, false); err != nil {
		return nil, err
	}
	messages, err := domarkx.Conversation(v)
	if err != nil {
		return nil, err
	}
	doc.Conversation = make([]domarkx.WrittenMessage, len(messages))
	for i, message := range messages {
		if doc.Conversation[i].Message, err = domarkx.ParseMessage(message, fmt.Sprintf("/conversation/%d", i)); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// Detect reports whether a file is a snapshot document: in head, it must be a JSON object with a
// member snapshot_id or conversation.
func Detect(head []byte, _ string) bool {
	for depth, name := range format.Names(head) {
		if depth == 1 && (name == "snapshot_id" || name == "conversation") {
			return true
		}
	}
	return false
}
