package provider_test

import (
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

func TestArray(t *testing.T) {
	type object struct {
		Model string `json:"model"`
	}
	a, err := provider.NewArray(object{"m"}, "messages", 10)
	if err != nil {
		t.Fatal(err)
	}
	a.Items(`{"items":[`, [][]byte{[]byte(`{ "a": 1 }`), []byte(`2`)}, `]}`)
	a.Add([]byte(`3`), []byte(`"4"`))
	if err := a.Marshal(map[string]string{"five": "<é>"}); err != nil {
		t.Fatal(err)
	}
	const want = `{"model":"m","messages":[{"items":[{ "a": 1 },2]},3,"4",{"five":"<é>"}]}`
	if got := string(a.Object()); got != want {
		t.Errorf("the object is\n%s\nexpected\n%s", got, want)
	}
	empty, err := provider.NewArray(object{}, "input", 0)
	if err != nil || string(empty.Object()) != `{"model":"","input":[]}` {
		t.Errorf("the empty array is %s, %v", empty.Object(), err)
	}
}
