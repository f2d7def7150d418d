package chat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// withItems returns a reply with provider items, which are a part of it in the provider's words.
func withItems(r reply, n int) reply {
	r.answer.Raw = &provider.Raw{Origin: provider.Origin{Provider: "anthropic", Host: "api.example.org", Model: "m-1"},
		Items: [][]byte{fmt.Appendf(nil, `{"type": "item of answer", "n": %d}`, n)}}
	return r
}

// TestMemoryFollowsEdits checks that the model gets the session's present messages, not its former ones.
func TestMemoryFollowsEdits(t *testing.T) {
	s := newSite(t)
	s.model.script = []reply{say("answer")}
	s.session("s", long(60))
	s.must("s", "next")
	edited := strings.Replace(s.show("s"), "message 7:", "message seven, edited:", 1)
	if _, err := s.Save(t.Context(), engine.SaveRequest{Name: "s", Base: s.tip("s").ID, Data: []byte(edited), Operation: "edit"}); err != nil {
		t.Fatal(err)
	}
	again := openSite(t, s.dir(), say("Done."))
	again.must("s", "next")
	if sent := again.model.sent(0); !strings.Contains(sent, "message seven, edited:") || strings.Contains(sent, "message 7:") {
		t.Errorf("the model got\n%s", sent)
	}
}

// TestMemoryOfAnotherModel checks that the items of one model are not sent to another.
func TestMemoryOfAnotherModel(t *testing.T) {
	s := newSite(t)
	for i := range 10 {
		s.model.script = append(s.model.script, withItems(say("answer"), i))
	}
	s.session("s", config)
	for range 10 {
		s.must("s", "question")
	}
	for _, model := range []string{"m-1", "m-2", "m-1"} {
		again := openSite(t, s.dir(), say("Done."))
		again.model.answers, again.model.origin.Model = s.model.answers, model
		again.must("s", "next")
		raw := 0
		for _, m := range again.model.requests[0].Messages {
			if m.Raw != nil {
				raw++
			}
		}
		if want := map[string]int{"m-1": 10, "m-2": 0}[model]; raw != want {
			t.Errorf("%s got the items of %d answers, expected %d", model, raw, want)
		}
	}
}
