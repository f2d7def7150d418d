package search_test

import (
	"fmt"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/find/search"
	"pgregory.net/rapid"
)

// sameContents fails if a stored message is scanned otherwise than it is parsed.
func sameContents(t interface{ Fatalf(string, ...any) }, data []byte) (scanned bool) {
	a, b := search.Contents(data)
	if a == nil {
		return false
	}
	if b == nil || fmt.Sprintf("%+q", *a) != fmt.Sprintf("%+q", *b) {
		t.Fatalf("%s\nis scanned as\n%+q, and parsed as\n%+q", data, a, b)
	}
	return true
}

// FuzzStored compares a scanned message with the parsed one.
func FuzzStored(f *testing.F) {
	for _, b := range []domarkx.Block{
		{Type: domarkx.TextBlock, Text: "plain"},
		{Type: domarkx.TextBlock, Text: "a \"quoted\"\n\ttab \\ \x01 größe \xff"},
		{Type: domarkx.CodeBlock, Language: "go", Text: "func main() {}\n"},
		{Type: domarkx.CodeBlock, Language: toolcall.Language, Text: `{"resource":"w","tool":"run","arguments":{"path":"a/b"}}`},
	} {
		f.Add(view.PrettyJSON(domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{b}}.Value()))
	}
	f.Fuzz(func(t *testing.T, data []byte) { sameContents(t, data) })
}

// TestStored checks that messages as they are stored are scanned.
func TestStored(t *testing.T) {
	scanned := 0
	rapid.Check(t, func(t *rapid.T) {
		m := domarkx.Message{Role: rapid.SampledFrom([]domarkx.Role{domarkx.User, domarkx.Assistant}).Draw(t, "role")}
		if rapid.Bool().Draw(t, "metadata") {
			v := jsonvalue.ObjectValue(jsonvalue.Member{Name: "model", Value: jsonvalue.StringValue(rapid.String().Draw(t, "model"))},
				jsonvalue.Member{Name: "in", Value: jsonvalue.ObjectValue(jsonvalue.Member{Name: "it", Value: jsonvalue.StringValue("  },\n  ")})})
			m.Metadata = &v
		}
		text := rapid.OneOf(rapid.String(), rapid.StringMatching("[ -~\n\tß]{0,40}"))
		for range rapid.IntRange(0, 3).Draw(t, "blocks") {
			b := domarkx.Block{Type: domarkx.TextBlock, Text: text.Draw(t, "text")}
			if language := rapid.SampledFrom([]string{"", "go", toolcall.Language, toolcall.ResultLanguage}).Draw(t, "language"); language != "" {
				b.Type, b.Language = domarkx.CodeBlock, language
				if rapid.Bool().Draw(t, "call") {
					b.Text = fmt.Sprintf(`{"tool":"x","arguments":{"path":%q}}`, b.Text)
				}
			}
			m.Content = append(m.Content, b)
		}
		if sameContents(t, view.PrettyJSON(m.Value())) {
			scanned++
		}
	})
	if scanned == 0 {
		t.Error("no message was scanned")
	}
}
