package jsonvalue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// benchDocument is a conversation as programs write it: mostly texts of a few
// kilobytes, with an escape here and there.
func benchDocument(text string) []byte {
	var messages []jsonvalue.Value
	for i := range 100 {
		messages = append(messages, jsonvalue.ObjectValue(
			jsonvalue.Member{Name: "id", Value: jsonvalue.StringValue(fmt.Sprint("msg-", i))},
			jsonvalue.Member{Name: "speaker", Value: jsonvalue.ObjectValue(jsonvalue.Member{Name: "type", Value: jsonvalue.StringValue("ai")})},
			jsonvalue.Member{Name: "timestamp", Value: jsonvalue.NumberValue("1770000000000")},
			jsonvalue.Member{Name: "content", Value: jsonvalue.StringValue(strings.Repeat(text, 1+i%40))}))
	}
	return jsonvalue.ArrayValue(messages...).AppendJSON(nil, "", "  ")
}

func BenchmarkValue(b *testing.B) {
	for name, text := range map[string]string{
		"English": "A line of text, as long as most are, with \"quotes\" in it now and then.\n",
		"Chinese": "一行文字，和大多数行一样长，偶尔有“引号”。\n",
	} {
		data := benchDocument(text)
		v, err := jsonvalue.ParseValue(data)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("Parse"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsonvalue.ParseValue(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("Write"+name, func(b *testing.B) {
			space := make([]byte, 0, 2*len(data))
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				v.AppendJSON(space, "", "  ")
			}
		})
	}
}
