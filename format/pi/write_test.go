package pi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/pi"
)

// encodeOver writes a document whose session was imported from an original.
func encodeOver(t formattest.TB, doc *domarkx.Document, original string) (string, []string) {
	t.Helper()
	var lost format.Losses
	out, err := pi.Codec().Encode(doc, format.Target{Session: "s", Losses: &lost, Original: func(read func(format.File) error) error {
		return read(format.File{Path: "s.jsonl", Content: strings.NewReader(original), Size: int64(len(original))})
	}})
	if err != nil {
		t.Fatal(err)
	}
	return string(out), lost.Texts()
}

func textOf(m domarkx.WrittenMessage) *string { return &m.Content[len(m.Content)-1].Text }

// TestKeepsEntries: the original's entries are written again unchanged, with what stands
// around it, as far as the message still says it.
func TestKeepsEntries(t *testing.T) {
	original := session()
	lines := strings.SplitAfter(original, "\n")
	without := func(at ...int) string {
		var kept []string
		for i, line := range lines {
			if !slices.Contains(at, i) {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	chained := func(text string) string { // each entry comes after the one before it
		last := ""
		var b strings.Builder
		for line := range strings.Lines(text) {
			v, err := jsonvalue.ParseValue([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			if parent, ok := v.Get("parentId"); ok && parent.Text() != last {
				v = v.With("parentId", jsonvalue.StringValue(last))
			}
			if id, _ := v.Get("id"); b.Len() > 0 {
				last = id.Text()
			}
			b.WriteString(v.JSON() + "\n")
		}
		return b.String()
	}
	replace := func(old, now string) string { return strings.Replace(original, old, now, 1) }
	for _, test := range []struct {
		name   string
		change func(doc *domarkx.Document)
		want   string
		lost   []string
	}{
		{"nothing", func(*domarkx.Document) {}, original, nil},
		{"a prompt", func(doc *domarkx.Document) { *textOf(doc.Conversation[2]) = "Take your time." }, replace("By the way, hurry.", "Take your time."), nil},
		{"an answer", func(doc *domarkx.Document) { *textOf(doc.Conversation[3]) = "It is one." }, replace("It is noon.", "It is one."), nil},
		{"a note", func(doc *domarkx.Document) { *textOf(doc.Conversation[5]) = "Forget it." }, replace("Remember **this**.", "Forget it."), nil},
		{"a summary", func(doc *domarkx.Document) { *textOf(doc.Conversation[6]) = "All was read." }, replace(`## Goal\nThe clock was read.`, "All was read."), nil},
		{"a shell execution", func(doc *domarkx.Document) { doc.Conversation[4].Content[0].Text = "ls -a" }, replace(`"command":"ls"`, `"command":"ls -a"`), nil},
		{"the title", func(doc *domarkx.Document) {
			about := doc.Header.UserMetadata.With("title", jsonvalue.StringValue("Watch"))
			doc.Header.UserMetadata = &about
		}, original + `{"type":"session_info","id":"ID","parentId":"a0000012","timestamp":"2026-02-18T05:00:00.120Z","name":"Watch"}` + "\n", nil},
		{"a call with late results", func(doc *domarkx.Document) { doc.Conversation = slices.Delete(doc.Conversation, 1, 2) }, chained(without(4, 5, 8)), nil},
		{"what a compaction keeps", func(doc *domarkx.Document) { doc.Conversation = slices.Delete(doc.Conversation, 3, 4) }, chained(without(9)),
			[]string{`what a compaction keeps from an entry on that does not exist: 1 message`}},
		{"a result", func(doc *domarkx.Document) {
			b := &doc.Conversation[1].Content[3]
			b.Text = strings.Replace(b.Text, "noon", "midnight", 1)
		}, strings.Replace(replace(`{"type":"thinking","thinking":"It needs to be read.\n\n## user","thinkingSignature":"c2ln"},`, ""),
			`[{"type":"text","text":"12:00"},`+image+`,{"type":"text","text":"noon"}]`, `[{"type":"text","text":"12:00\nmidnight"},`+image+`]`, 1),
			[]string{"thoughts, which only the program that had them can send to its model: 1 message"}},
		{"more", func(doc *domarkx.Document) {
			doc.Conversation = append(doc.Conversation, domarkx.WrittenMessage{Message: domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "More."}}}})
		}, original + `{"type":"message","id":"ID","parentId":"a0000012","timestamp":"2026-02-18T05:00:16.001Z","message":{"role":"assistant","content":[{"type":"text","text":"More."}],` +
			`"api":"anthropic-messages","provider":"anthropic","model":"claude-x","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,` +
			`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1771390816001}}` + "\n", nil},
	} {
		doc := formattest.MustOpen(t, pi.Codec(), original)[0].Document
		test.change(doc)
		got, lost := encodeOver(t, doc, original)
		if last := strings.LastIndex(strings.TrimSuffix(got, "\n"), "\n"); strings.Contains(test.want, `"ID"`) {
			v, _ := jsonvalue.ParseValue([]byte(got[last+1:]))
			id, _ := v.Get("id")
			got = got[:last+1] + strings.Replace(got[last+1:], id.Text(), "ID", 1)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.lost, lost); diff != "" {
			t.Errorf("%s lost (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestKeepsBranch: a branch is written with the entries on its way, as a session of its own.
func TestKeepsBranch(t *testing.T) {
	original := branches()
	all := formattest.MustOpen(t, pi.Codec(), original)
	if len(all) != 2 || !pi.Codec().IsPart(all[1].Document.Header) || pi.Codec().IsPart(all[0].Document.Header) {
		t.Fatalf("%d conversations", len(all))
	}
	lines := strings.SplitAfter(original, "\n")
	got, lost := encodeOver(t, all[1].Document, original)
	_, entries, _ := strings.Cut(got, "\n")
	if diff := cmp.Diff(strings.Join(slices.Concat(lines[1:5], lines[8:9]), ""), entries); diff != "" || lost != nil {
		t.Errorf("lost %q (-want +got):\n%s", lost, diff)
	}
	if strings.Contains(got, `"id":"s1"`) {
		t.Error("it has the id of the transcript")
	}
}

// TestKeepsForkOfBranch: a fork of a branch is written with the entries of the branch, also where it
// ends before that, was edited, or goes on. A fork that ends where the branch began has those of the
// transcript's own conversation.
func TestKeepsForkOfBranch(t *testing.T) {
	original := branches()
	lines := strings.SplitAfter(original, "\n")
	own, branch := lines[1:3:3], slices.Concat(lines[1:5], lines[8:9])
	for _, test := range []struct {
		messages int
		want     []string
	}{{5, branch}, {4, branch[:4]}, {2, own}} {
		doc := formattest.MustOpen(t, pi.Codec(), original)[1].Document
		h, ok := pi.Codec().Fork(doc.Header, format.Fork{UUID: "new", At: time.Unix(0, 0)})
		if !ok {
			t.Fatal("a branch cannot be forked")
		}
		doc.Header, doc.Conversation = h, doc.Conversation[:test.messages]
		got, lost := encodeOver(t, doc, original)
		_, entries, _ := strings.Cut(got, "\n")
		if diff := cmp.Diff(strings.Join(test.want, ""), entries); diff != "" || lost != nil {
			t.Errorf("%d messages: lost %q (-want +got):\n%s", test.messages, lost, diff)
		}
		doc.Conversation = append(doc.Conversation, domarkx.WrittenMessage{Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "More."}}}})
		if more, _ := encodeOver(t, doc, original); !strings.HasPrefix(more, got) {
			t.Errorf("%d messages and one more:\n%s\nwant the beginning\n%s", test.messages, more, got)
		}
	}
}

// TestKeepsVersions: entries of earlier versions are written as those of the present one.
func TestKeepsVersions(t *testing.T) {
	for _, name := range []string{"v1", "v2"} {
		original := formattest.Read(t, "testdata/"+name+".jsonl")
		doc := formattest.MustOpen(t, pi.Codec(), original)[0].Document
		got, lost := encodeOver(t, doc, original)
		formattest.Golden(t, "testdata/"+name+".kept", got)
		again := formattest.MustOpen(t, pi.Codec(), got)
		if lost != nil || again[0].Document.Damage != nil || len(again) != 1 {
			t.Errorf("%s: lost %q, damage %v", name, lost, again[0].Document.Damage)
		}
		if diff := cmp.Diff(formattest.Said(doc), formattest.Said(again[0].Document)); diff != "" {
			t.Errorf("%s (-original +written):\n%s", name, diff)
		}
	}
}

// TestKeepsAny: whatever messages are removed, moved or changed, the written file holds what the
// session says, each message once.
func TestKeepsAny(t *testing.T) {
	originals := []string{session(), branches(), formattest.Read(t, "testdata/v1.jsonl")}
	rapid.Check(t, func(t *rapid.T) {
		original := rapid.SampledFrom(originals).Draw(t, "original")
		all, err := formattest.Open(pi.Codec(), []byte(original))
		if err != nil {
			t.Fatal(err)
		}
		doc := rapid.SampledFrom(all).Draw(t, "conversation").Document
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			n := len(doc.Conversation)
			if n == 0 {
				break
			}
			k, to := rapid.IntRange(0, n-1).Draw(t, "message"), rapid.IntRange(0, n-1).Draw(t, "to")
			switch m := doc.Conversation[k]; rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				doc.Conversation = slices.Delete(doc.Conversation, k, k+1)
			case 1:
				doc.Conversation = slices.Insert(slices.Delete(doc.Conversation, k, k+1), to, m)
			case 2:
				doc.Conversation = slices.Insert(doc.Conversation, to, m)
			case 3:
				m.Content = slices.Clone(m.Content)
				for i, b := range m.Content {
					if b.Type == domarkx.TextBlock {
						m.Content[i].Text = fmt.Sprintf("changed %d", i)
					}
				}
				doc.Conversation[k] = m
			}
		}
		out, _ := encodeOver(t, doc, original)
		again, err := formattest.Open(pi.Codec(), []byte(out))
		if err != nil {
			t.Fatal(err)
		}
		if len(again) != 1 || again[0].Document.Damage != nil {
			t.Fatalf("%d conversations, damage %v\n%s", len(again), again[0].Document.Damage, out)
		}
		if diff := cmp.Diff(said(doc), said(again[0].Document)); diff != "" {
			t.Fatalf("(-session +written):\n%s\n%s", diff, out)
		}
	})
}

// said is formattest.Said without the note that a call has no result, which changed messages get.
func said(doc *domarkx.Document) []string {
	all := formattest.Said(doc)
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], "result the transcript has no result of this call", "result The call was not completed.")
	}
	return all
}
