package provider_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

func TestArray(t *testing.T) {
	a, err := provider.NewArray([]byte(`{"model":"m","messages":null,"stream":true}`), "messages", 10)
	if err != nil {
		t.Fatal(err)
	}
	a.Text(`{"text":`, "one", `}`)
	a.Items(`{"items":[`, [][]byte{[]byte(`{ "a": 1 }`), []byte(`2`)}, `]}`)
	a.Add([]byte(`3`), []byte(`"4"`))
	if err := a.Marshal(map[string]int{"five": 5}); err != nil {
		t.Fatal(err)
	}
	const want = `{"model":"m","messages":[{"text":"one"},{"items":[{ "a": 1 },2]},3,"4",{"five":5}],"stream":true}`
	if got := string(a.Object()); got != want {
		t.Errorf("the object is\n%s\nexpected\n%s", got, want)
	}
	empty, err := provider.NewArray([]byte(`{}`), "input", 0)
	if err != nil || string(empty.Object()) != `{"input":[]}` {
		t.Errorf("the empty array is %s, %v", empty.Object(), err)
	}
}

// FuzzArrayText checks that texts are written as the standard library writes them.
func FuzzArrayText(f *testing.F) {
	for _, s := range []string{"", "plain", "a \"b\" \\ c", "\r\n\tx", "<a> & 'b'", "Grüße — “x”", "\x00\x1f\x7f", "\u2028 \u2029", "a\xffb", "\xed\xa0\x80", "😀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := provider.NewArray([]byte(`{}`), "a", 0)
		if err != nil {
			t.Fatal(err)
		}
		a.Text("", text, "")
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(text); err != nil {
			t.Fatal(err)
		}
		if got := string(a.Object()); got != `{"a":[`+string(bytes.TrimSpace(want.Bytes()))+`]}` {
			t.Errorf("%q is %s, expected %s", text, got, want.Bytes())
		}
	})
}
