package domarkx_test

import (
	"errors"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

func TestParseMessageKeepsEverything(t *testing.T) {
	for _, text := range []string{
		`{"role":"user","content":[]}`,
		`{"role":"assistant","message_metadata":{"a":[1.0]},"content":[{"type":"text","value":"hi"},{"type":"code","language":"","name":"n","code":"","x":null}],"workspace_version":"abc"}`,
		`{"role":"user","content":[{"type":"text","value":"","language":"x"},{"type":"code","language":"sh","code":"ls","name":null}],"message_metadata":null}`,
	} {
		m, err := domarkx.ParseMessage(parse(t, text), "")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := m.Value().JSON(); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}

func TestParseMessageReplacedNullIsGone(t *testing.T) {
	m, err := domarkx.ParseMessage(parse(t, `{"role":"user","message_metadata":null,"content":[],"message_metadata":{"a":1}}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Value().JSON(), `{"role":"user","message_metadata":{"a":1},"content":[]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseMessageErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`[]`, `1:1: the JSON text is an array, expected a message object`},
		{`{"content": []}`, `1:1: /role: required member "role" is missing, expected a string`},
		{`{"role": 1, "content": []}`, `1:10: /role: is a number, expected a string`},
		{"{\"role\": \"system\",\n \"content\": []}", `1:10: /role: role is "system", expected "user" or "assistant"`},
		{`{"role": "user"}`, `1:1: /content: required member "content" is missing, expected an array`},
		{`{"role": "user", "content": {}}`, `1:29: /content: is an object, expected an array`},
		{`{"role": "user", "content": [null]}`, `1:30: /content/0: is null, expected a content block object`},
		{`{"role": "user", "content": [{"value": ""}]}`, `1:30: /content/0/type: required member "type" is missing, expected a string`},
		{`{"role": "user", "content": [{"type": "image"}]}`, `1:39: /content/0/type: type is "image", expected "text" or "code"`},
		{`{"role": "user", "content": [{"type": "text"}]}`, `1:30: /content/0/value: required member "value" is missing, expected a string`},
		{`{"role": "user", "content": [{"type": "code", "code": ""}]}`, `1:30: /content/0/language: required member "language" is missing, expected a string`},
		{`{"role": "user", "content": [{"type": "code", "language": ""}]}`, `1:30: /content/0/code: required member "code" is missing, expected a string`},
		{`{"role": "user", "content": [{"type": "code", "language": "", "code": "", "name": 1}]}`, `1:83: /content/0/name: is a number, expected a string`},
		{`{"role": "user", "content": [], "message_metadata": "x"}`, `1:53: /message_metadata: is a string, expected an object`},
	} {
		_, err := domarkx.ParseMessage(parse(t, test.text), "")
		err = domarkx.Locate(err, []byte(test.text))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\ngot  %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestParseRole(t *testing.T) {
	for _, role := range []domarkx.Role{domarkx.User, domarkx.Assistant} {
		if got, err := domarkx.ParseRole(string(role)); got != role || err != nil {
			t.Errorf("%s: got %q, %v", role, got, err)
		}
	}
	for _, s := range []string{"", "User", "system", "user "} {
		if _, err := domarkx.ParseRole(s); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%q: got %v, want ErrInvalid", s, err)
		}
	}
}

func TestPreview(t *testing.T) {
	long := "123456789 123456789 123456789 123456789 123456789 "
	for _, test := range []struct {
		name, want string
		texts      []string
	}{
		{"nothing", "", nil},
		{"short", "hi", []string{"hi"}},
		{"blocks", "a\n\nb", []string{"a", "b"}},
		{"exactly fifty", long, []string{long}},
		{"cut", long + "...", []string{long + "x"}},
		{"cut in a surrogate pair", long[:49] + "\xed\xa0\xbd...", []string{long[:49] + "😀"}},
		{"a pair fits", long[:48] + "😀", []string{long[:48] + "😀"}},
		{"a lone surrogate is one unit", long[:49] + "\xed\xb8\x80", []string{long[:49] + "\xed\xb8\x80"}},
	} {
		var m domarkx.Message
		for _, text := range test.texts {
			m.Content = append(m.Content, domarkx.Block{Type: domarkx.TextBlock, Text: text})
		}
		if got := domarkx.Preview(m); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestMessageDepth(t *testing.T) {
	deep := func(text string) jsonvalue.Value {
		v, err := jsonvalue.ParseValue([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	metadata, empty := deep(`{"a":[{"b":1}]}`), deep(`{}`)
	extra := []jsonvalue.Member{{Name: "x", Value: deep(`[[[1]]]`)}}
	for _, m := range []domarkx.Message{
		{}, {Metadata: &empty}, {Metadata: &metadata}, {Extra: extra}, {Content: []domarkx.Block{{}}},
		{Metadata: &metadata, Content: []domarkx.Block{{}, {Extra: extra}}}, {Content: []domarkx.Block{{Extra: []jsonvalue.Member{{Name: "x"}}}}},
	} {
		if got, want := m.Depth(), m.Value().Depth(); got != want {
			t.Errorf("%s: depth %d, want %d", m.Value().JSON(), got, want)
		}
	}
}

func TestGlue(t *testing.T) {
	glue := jsonvalue.ArrayValue(jsonvalue.StringValue("<"), jsonvalue.StringValue("|"), jsonvalue.StringValue(">"))
	metadata := jsonvalue.ObjectValue(jsonvalue.Member{Name: domarkx.MetadataGlue, Value: glue})
	m := domarkx.Message{Metadata: &metadata, Content: []domarkx.Block{{Text: "a"}, {Text: "b"}}}
	if got := domarkx.Preview(m); got != "<a|b>" {
		t.Errorf("got %q", got)
	}
	m.Content = m.Content[:1]
	if got := domarkx.Preview(m); got != "a" || m.Glue() != nil {
		t.Errorf("glue for two blocks is taken for one: %q", got)
	}
}
