package snapshotjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/snapshotjson"
)

func BenchmarkMessages(b *testing.B) {
	doc := &domarkx.Document{Header: domarkx.Header{SnapshotID: "i", ImportTimestamp: "t", ExecutionConfig: jsonvalue.ObjectValue()}}
	for i := range 100_000 {
		doc.Conversation = append(doc.Conversation, domarkx.WrittenMessage{Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{
			{Type: domarkx.TextBlock, Text: strings.Repeat("Some \"words\" that a message is made of.\n", 20)},
			{Type: domarkx.CodeBlock, Language: "bash", Name: fmt.Sprint(i), HasName: true, Text: "ls -la"},
		}}})
	}
	data, err := snapshotjson.Encode(doc)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Encode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := snapshotjson.Encode(doc); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Decode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := snapshotjson.Decode(format.Source{Data: data}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
