package chat_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// TestMemory takes a turn in processes that find what earlier ones kept of the session, in whatever
// state it is. All of them send the same conversation.
func TestMemory(t *testing.T) {
	turns := 40
	if testing.Short() {
		turns = 12
	}
	s := newSite(t)
	s.session("s", config)
	for i := range turns {
		answer := say(fmt.Sprintf("answer %d ✓", i))
		if i%4 == 1 {
			answer = callsTool("files__write_file", fmt.Sprintf(`{"path": "a", "content": "%d"}`, i))
			s.model.script = append(s.model.script, withItems(answer, i), say("It is written."))
		} else {
			s.model.script = append(s.model.script, withItems(answer, i))
		}
		s.must("s", fmt.Sprintf("question %d: \"why\"?", i))
	}
	tip := s.tip("s")
	kept := filepath.Join(s.git.StateDir(), "chat")
	files, err := filepath.Glob(filepath.Join(kept, "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("kept files: %q, %v", files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	request := func() string {
		t.Helper()
		again := openSite(t, s.dir(), say("Done."))
		again.model.answers = s.model.answers
		again.must("s", "next")
		r := again.model.requests[0]
		again.rewind("s", tip.Messages-1)
		var b strings.Builder
		for _, m := range r.Messages[:len(r.Messages)-1] {
			fmt.Fprintf(&b, "%s %q", m.Role, m.Parts)
			if m.Raw != nil {
				fmt.Fprintf(&b, " %v %q", m.Raw.Origin, m.Raw.Items)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	if err := chat.Forget(s.git.StateDir()); err != nil {
		t.Fatal(err)
	}
	want := request()
	if n := strings.Count(want, "item of answer"); n != turns {
		t.Fatalf("%d of %d answers have their items in\n%s", n, turns, want)
	}
	damaged := slices.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	for name, data := range map[string][]byte{"whole": whole, "damaged": damaged, "cut": whole[:len(whole)-20], "empty": {}, "foreign": []byte("domarkx-known 2\n")} {
		if err := os.WriteFile(files[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := request(); got != want {
			t.Errorf("with a %s file the model gets\n%s\nexpected\n%s", name, got, want)
		}
		if now, err := os.ReadFile(files[0]); err != nil || string(now) != string(whole) {
			t.Errorf("after a turn with a %s file, it has %d bytes, expected %d: %v", name, len(now), len(whole), err)
		}
	}
}

// withItems returns a reply with provider items, which are a part of it in the provider's words.
func withItems(r reply, n int) reply {
	r.answer.Raw = &provider.Raw{Origin: provider.Origin{Provider: "anthropic", Host: "api.example.org", Model: "m-1"},
		Items: [][]byte{fmt.Appendf(nil, `{"type": "item of answer", "n": %d}`, n)}}
	return r
}

// TestMemoryFollowsEdits checks that the model gets what is in the session, not what was in it.
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

// FuzzDecodeBlock checks that no file of a memory makes the program fail, and that one that is read
// is written as the same messages.
func FuzzDecodeBlock(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x01a\x01\x00" + strings.Repeat("i", 16) + "\x00\x01\x00\x02hi"))
	f.Add([]byte("\x01\x01a\x01\x1d" + strings.Repeat("i", 16) + "\x00\x02\x02\x01k\x01n\x02{}\x03\x01k\x01r\x02\x02\x02\x02\x02\x01\x02{}\x01\x01c"))
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := chat.DecodeBlock(data)
		if err != nil {
			return
		}
		twice, err := chat.DecodeBlock(once)
		if err != nil || string(once) != string(twice) {
			t.Errorf("%q is written as %q, then as %q: %v", data, once, twice, err)
		}
	})
}
