package gemini_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/gemini"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// TestContentParts: contents as the API of Gemini has them.
func TestContentParts(t *testing.T) {
	for _, test := range []struct {
		response string
		want     transcript.Result
	}{
		{`{"id": "c", "response": {"output": "o"}}`, transcript.Result{ID: "c", Value: transcript.Str("o")}},
		{`{"id": "c", "response": {"error": "e", "output": "o"}}`, transcript.Result{ID: "c", Failed: true, Value: transcript.Str("e")}},
		{`{"response": {"output": {"a": 1}}}`, transcript.Result{Value: transcript.Str("{\n  \"a\": 1\n}")}},
		{`{"response": {"x": 1}}`, transcript.Result{Value: transcript.Str("{\n  \"x\": 1\n}")}},
		{`{"response": "text"}`, transcript.Result{Value: transcript.Str("text")}},
		{`{}`, transcript.Result{Value: transcript.Str("null")}},
	} {
		v, err := jsonvalue.ParseValue([]byte(test.response))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, gemini.ResponseResult(v), cmp.Comparer(jsonvalue.Value.Equal)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.response, diff)
		}
	}
	const pixel = "![image](data:image/png;base64,QQ==)"
	turn := transcript.Turn{Parts: []transcript.Part{{Text: "a\n\n" + pixel}, {Text: "b"}}}
	parts := gemini.TextParts(turn)
	if got, want := transcript.List(parts...).JSON(), `[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"QQ=="}},{"text":"b"}]`; got != want {
		t.Errorf("parts %s", got)
	}
	if got := gemini.InlineImage(parts[1]); got != (mdtext.Image{Type: "image/png", Data: "QQ=="}) {
		t.Errorf("image %v", got)
	}
	if got := gemini.InlineImage(parts[0]); got != (mdtext.Image{}) {
		t.Errorf("image %v of a text", got)
	}
}
