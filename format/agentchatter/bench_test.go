package agentchatter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/agentchatter"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

func BenchmarkMessages(b *testing.B) {
	doc := &domarkx.Document{Header: domarkx.NewHeader()}
	for i := range 100 {
		metadata := jsonvalue.ObjectValue(jsonvalue.Member{Name: "id", Value: jsonvalue.StringValue(fmt.Sprint("msg-", i))})
		doc.Conversation = append(doc.Conversation, domarkx.WrittenMessage{Message: domarkx.Message{Role: domarkx.User, Metadata: &metadata,
			Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: strings.TrimSpace(strings.Repeat("Some \"words\" of a message.\n", 20))}}}})
	}
	data, err := agentchatter.Codec().Encode(doc, format.Target{})
	if err != nil {
		b.Fatal(err)
	}
	codec := agentchatter.Codec()
	b.Run("Decode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := codec.Decode(format.Source{Data: data}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Encode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := agentchatter.Codec().Encode(doc, format.Target{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
