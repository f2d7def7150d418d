package importer_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

// pinnedTranscript contains everything that makes a message depend on other entries: calls with
// late results, entries that are not messages, broken lines, and three branches.
func pinnedTranscript(turns int) string {
	var b strings.Builder
	b.WriteString(piHeader)
	last := ""
	entry := func(id, kind, rest string) {
		parent := "null"
		if last != "" {
			parent = `"` + last + `"`
		}
		fmt.Fprintf(&b, `{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-02-18T05:00:01Z",%s}`+"\n", kind, id, parent, rest)
		last = id
	}
	message := func(id, rest string) { entry(id, "message", `"message":{`+rest+`,"timestamp":1}`) }
	filler := strings.Repeat("Some text to read. ", 40)
	for i := range turns {
		id := func(s string) string { return fmt.Sprintf("%s%05d", s, i) }
		message(id("u"), fmt.Sprintf(`"role":"user","content":"Question %d. %s"`, i, filler))
		message(id("a"), fmt.Sprintf(`"role":"assistant","content":[{"type":"text","text":"Let me see. %s"},{"type":"toolCall","id":"c%d","name":"bash","arguments":{"command":"ls"}},`+
			`{"type":"toolCall","id":"d%d","name":"bash","arguments":{"command":"cat"}}],"api":"a","provider":"p","model":"m","usage":{},"stopReason":"toolUse"`, filler, i, i))
		if i%3 == 0 {
			entry(id("m"), "model_change", `"provider":"p","modelId":"m"`)
		}
		message(id("r"), fmt.Sprintf(`"role":"toolResult","toolCallId":"d%d","toolName":"bash","content":[{"type":"text","text":"A result. %s"}],"isError":false`, i, filler))
		if i%5 == 0 {
			b.WriteString("{broken\n")
			message(id("s"), fmt.Sprintf(`"role":"user","content":"By the way, %d."`, i))
			message(id("t"), fmt.Sprintf(`"role":"toolResult","toolCallId":"c%d","toolName":"bash","content":"Late.","isError":true`, i))
		}
		if i == turns/3 || i == turns/2 {
			last = fmt.Sprintf("a%05d", i/2)
		}
	}
	entry("name", "session_info", `"name":"Pinned"`)
	return b.String()
}

func pinnedChatter(messages int) string { return linedChatter(messages, 40) }

// linedChatter returns a document of messages with as many lines.
func linedChatter(messages, lines int) string {
	items := make([]string, messages)
	for i := range items {
		items[i] = fmt.Sprintf(`{"id":"m%d","timestamp":"2026-02-18T05:00:00.000Z","speaker":{"id":"u","name":"u","displayName":"User","type":%q},"content":"Message %d. %s"}`,
			i, []string{"human", "ai", "system"}[i%3], i, strings.Repeat(`Some \"text\" to read.\n`, lines))
	}
	return `{"schemaVersion":"1.0","teamId":"team","sessionId":"s","createdAt":"2026-02-18T05:00:00.000Z","updatedAt":"2026-02-18T06:00:00.000Z",` +
		`"context":{"teamTask":null,"timestamp":1,"version":1,"messages":[` + strings.Join(items, ",\n") + `]},"metadata":{"messageCount":1}}`
}

// TestImportIsPinned: imported snapshots have the same ids as when documents were still held in
// memory as a whole. The long documents are larger than the buffers for reading and measuring.
func TestImportIsPinned(t *testing.T) {
	for _, test := range []struct {
		turns int
		want  map[string]string
	}{
		{150, map[string]string{
			"talk":             "6b0689607dd5a6456cdaca418a4e69307b3573ed",
			"talk.fork-r00003": "1aec9d5cf0ac9f98fa9cba8e92806a4ce0589c33",
			"talk.fork-r00053": "76a4e5ddc2e09ad504e463e2196dd8ed4d6b3303",
			"talk.fork-t00005": "a7f6a182e285d2008321ff6b80fd70e4df6c96b6",
			"talk.fork-t00050": "e1c3d24a1d03636e2ad2333970c7d2d1e93728e9",
			"talk.fork-t00075": "ca35db6c6bc40d12f0a46f85209b1e29ef4fe487",
			"talk.fork-t00080": "c09627adf29b168f6689458f8425893d467869a4",
			"team/s":           "ee41f22bbec9f234af5393ff0242f0ce7609fdf5",
		}},
		{1500, map[string]string{
			"talk":             "ef86227c96951e4b64714b2228b216e73fd31bd9",
			"talk.fork-r00003": "1aec9d5cf0ac9f98fa9cba8e92806a4ce0589c33",
			"talk.fork-r00503": "35732bc34828ec16e853b1b3058bf8e7eef64dbc",
			"talk.fork-t00005": "a7f6a182e285d2008321ff6b80fd70e4df6c96b6",
			"talk.fork-t00500": "52cfa70df311feda6dbe9c9ebe3915d2f577e79f",
			"talk.fork-t00750": "dbb93bfd906edc5bda9bbe8ef90db3a3fe552933",
			"talk.fork-t00755": "5e6cc5b4a5649b7d8f59d90abf900a93aab74805",
			"team/s":           "572eb9092e4b65184f8ae6845969e85cb80a2b50",
		}},
	} {
		t.Run(fmt.Sprint(test.turns, " turns"), func(t *testing.T) {
			if testing.Short() && test.turns > 1000 {
				t.Skip("reads documents of 5 MB")
			}
			c, n := newClone(t), test.turns
			c.ImportFile(c.WriteFile("talk.jsonl", pinnedTranscript(n)))
			c.ImportFile(c.WriteFile("short.jsonl", pinnedTranscript(10))) // the same session with fewer messages
			c.ImportFile(c.WriteFile("chat.json", pinnedChatter(2*n)))
			// Changed and longer documents become the next snapshots.
			c.ImportFile(c.WriteFile("talk.jsonl", strings.ReplaceAll(pinnedTranscript(n+10), "Question 7", "Request 7")))
			c.ImportFile(c.WriteFile("chat.json", strings.Replace(pinnedChatter(2*n+100), "Message 1.", "Note 1.", 1)))
			got := map[string]string{}
			for _, name := range c.names() {
				got[name] = c.Tip(name).ID
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the sessions (-want +got):\n%s", diff)
			}
			c.Fsck()
		})
	}
}

// TestImportPutsLargeSavesOff: a save that continues a long save of the same import waits until
// that is stored.
func TestImportPutsLargeSavesOff(t *testing.T) {
	c := newClone(t)
	first, lines := 9000, 40
	if testing.Short() {
		first, lines = 900, 400 // as many bytes
	}
	for i, messages := range []int{first, first + 1, first + 1, first + 2} {
		text := linedChatter(messages, lines)
		if i == 2 {
			text = strings.Replace(text, "Message 7.", "Note 7.", 1)
		}
		c.WriteFile(fmt.Sprintf("in/170000000000%d-s.json", i), text)
	}
	result, err := c.Import(t.Context(), importer.Request{Paths: []string{filepath.Join(c.Dir, "in")}})
	if err != nil || len(result.Bad) > 0 || len(result.Warnings) > 0 {
		t.Fatal(err, result.Bad, result.Warnings)
	}
	var messages []int
	for info, err := range c.Store.History(t.Context(), c.Tip("team/s").ID) {
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, info.Messages)
	}
	if want := []int{first + 2, first + 1, first + 1, first}; !slices.Equal(messages, want) {
		t.Errorf("snapshots of %d messages, want %d", messages, want)
	}
	c.Fsck()
}

// TestImportOfFilesThatChange: an import does not combine data that was read from a file at
// different times.
func TestImportOfFilesThatChange(t *testing.T) {
	c := newClone(t)
	before := pinnedTranscript(10)
	path := c.WriteFile("talk.jsonl", before)
	c.Reading = func() {
		c.Reading = nil
		c.WriteFile("talk.jsonl", strings.Replace(before, "Question 5", "Querying 5", 1))
	}
	result, err := c.Import(t.Context(), importer.Request{Paths: []string{path}})
	if err != nil || len(result.Sessions) > 0 || len(result.Bad) != 1 || !strings.Contains(result.Bad[0].Error(), "changed while it was read") {
		t.Errorf("imported %v, bad %v, %v", result.Sessions, result.Bad, err)
	}
	if names := c.names(); len(names) > 0 {
		t.Errorf("sessions %q", names)
	}
	grown := before + piEntry("more", "name", "user", "More")
	c.WriteFile("talk.jsonl", before)
	c.Reading = func() { c.WriteFile("talk.jsonl", grown) }
	if saved := c.ImportFile(path); saved.Messages != len(c.ids("talk")) || c.export("talk") != before {
		t.Error("a file that grew while it was read is not what it was before")
	}
	c.Reading = nil
	if c.ImportFile(path); c.export("talk") != grown {
		t.Error("what a file grew by while it was read is not imported")
	}
}
