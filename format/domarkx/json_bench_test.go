package domarkx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
)

// benchDocument is a conversation as programs write it: mostly texts of a few
// kilobytes, with an escape here and there.
func benchDocument(text string) []byte {
	var messages []domarkx.Value
	for i := range 100 {
		messages = append(messages, domarkx.ObjectValue(
			domarkx.Member{Name: "id", Value: domarkx.StringValue(fmt.Sprint("msg-", i))},
			domarkx.Member{Name: "speaker", Value: domarkx.ObjectValue(domarkx.Member{Name: "type", Value: domarkx.StringValue("ai")})},
			domarkx.Member{Name: "timestamp", Value: domarkx.NumberValue("1770000000000")},
			domarkx.Member{Name: "content", Value: domarkx.StringValue(strings.Repeat(text, 1+i%40))}))
	}
	return domarkx.ArrayValue(messages...).AppendJSON(nil, "", "  ")
}

func BenchmarkValue(b *testing.B) {
	for name, text := range map[string]string{
		"English": "A line of text, as long as most are, with \"quotes\" in it now and then.\n",
		"Chinese": "一行文字，和大多数行一样长，偶尔有“引号”。\n",
	} {
		data := benchDocument(text)
		v, err := domarkx.ParseValue(data)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("Parse"+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := domarkx.ParseValue(data); err != nil {
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
