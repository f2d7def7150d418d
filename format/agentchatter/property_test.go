package agentchatter_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/agentchatter"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// pieces are what contents are made of: whatever a division into blocks could get
// wrong.
var pieces = []string{"text", "\n", "\n\n", "```", "```js\n", "~~~", "````", " ", "  ", "\t", "> q", "- item", "    code", "## user", "\\", "\r\n", "\r",
	"\xed\xa0\xbd", "é", "name=x", "[include](a)", "<!--", "\x00", "`", "\u2028"}

// TestContentSurvives: whatever stands in a message, a session that was changed
// elsewhere is written with exactly that.
func TestContentSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := ""
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(pieces)-1), 0, 12).Draw(t, "pieces") {
			content += pieces[i]
		}
		message := jsonvalue.ObjectValue(jsonvalue.Member{Name: "content", Value: jsonvalue.StringValue(content)})
		doc := jsonvalue.ObjectValue(
			jsonvalue.Member{Name: "schemaVersion", Value: jsonvalue.StringValue("1.0")},
			jsonvalue.Member{Name: "context", Value: jsonvalue.ObjectValue(jsonvalue.Member{Name: "messages", Value: jsonvalue.ArrayValue(message)})})
		read, err := agentchatter.Codec().Decode(format.Source{Data: []byte(doc.JSON())})
		if err != nil {
			t.Fatal(err)
		}
		var lost format.Losses
		written, err := agentchatter.Codec().Encode(read, format.Target{Losses: &lost})
		if lost.Len() > 0 {
			t.Errorf("lost %q", lost.Texts())
		}
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonvalue.ParseValue(written)
		if err != nil {
			t.Fatal(err)
		}
		context, _ := v.Get("context")
		messages, _ := context.Get("messages")
		if got, _ := messages.Items()[0].Get("content"); got.Text() != content {
			t.Errorf("%q became %q", content, got.Text())
		}
	})
}
