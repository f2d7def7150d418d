package provider_test

import (
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

func TestBody(t *testing.T) {
	text, err := provider.Encode(provider.Object{"five": "<é>"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"model":"<m>","messages":[{ "a": 1 },"4",{"five":"<é>"}]}`
	if got, err := provider.Body(provider.Object{"model": "<m>"}, "messages", [][]byte{[]byte(`{ "a": 1 }`), []byte(`"4"`), text}); string(got) != want || err != nil {
		t.Errorf("the object is %v\n%s\nexpected\n%s", err, got, want)
	}
	empty, err := provider.Body(provider.Object{"model": ""}, "input", nil)
	if err != nil || string(empty) != `{"model":"","input":[]}` {
		t.Errorf("the empty array is %s, %v", empty, err)
	}
}
