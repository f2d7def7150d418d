package pi_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/format/pi"
)

// jsonOf spells a string as pi does.
func jsonOf(s string) string { return domarkx.StringValue(s).JSON() }

var texts = rapid.OneOf(
	rapid.SampledFrom([]string{"", "Hello", "\n", "a\n\nb", "```go\nx\n```", "```thought\nx\n```", "```tool-call\n{}\n```", "## user", "~~~\nopen", " x ", "\t", "a\r\nb",
		"![image](data:image/png;base64,AAAA)", "\u2028", "[include](x)", "- a\n\n      b", "<!-- x", "\x00", "x\n\n\n", "```\n"}),
	rapid.String())

// entries draws a linear transcript as the program writes it.
func entries(t *rapid.T) string {
	var out strings.Builder
	out.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-02-18T05:00:00.120Z","cwd":"/w"}` + "\n")
	last, calls := "null", 0
	add := func(kind, rest string) {
		id := fmt.Sprintf(`"%08x"`, out.Len())
		fmt.Fprintf(&out, `{"type":%q,"id":%s,"parentId":%s,"timestamp":"2026-02-18T05:00:01.000Z",%s}`+"\n", kind, id, last, rest)
		last = id
	}
	parts := func() string {
		var all []string
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			if rapid.IntRange(0, 3).Draw(t, "image") == 0 {
				all = append(all, `{"type":"image","data":"AAAA","mimeType":"image/png"}`)
			} else {
				all = append(all, `{"type":"text","text":`+jsonOf(texts.Draw(t, "text"))+`}`)
			}
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for range rapid.IntRange(0, 6).Draw(t, "entries") {
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0:
			add("message", `"message":{"role":"user","content":`+jsonOf(texts.Draw(t, "text"))+`,"timestamp":1}`)
		case 1:
			add("message", `"message":{"role":"user","content":`+parts()+`,"timestamp":1}`)
		case 2:
			add("model_change", `"provider":"p","modelId":"m"`)
		case 3:
			add("message", `"message":{"role":"bashExecution","command":`+jsonOf(texts.Draw(t, "command"))+`,"output":`+jsonOf(texts.Draw(t, "output"))+`,"exitCode":0,"cancelled":false,"truncated":false,"timestamp":1}`)
		case 4:
			add("compaction", `"summary":`+jsonOf(texts.Draw(t, "summary"))+`,"firstKeptEntryId":`+strings.Replace(last, "null", `""`, 1)+`,"tokensBefore":1`)
		case 5:
			add("custom_message", `"customType":"c","content":`+parts()+`,"display":true`)
		default:
			var all []string
			var results []string
			for range rapid.IntRange(0, 4).Draw(t, "parts") {
				switch rapid.IntRange(0, 2).Draw(t, "part") {
				case 0:
					all = append(all, `{"type":"text","text":`+jsonOf(texts.Draw(t, "text"))+`}`)
				case 1:
					all = append(all, `{"type":"thinking","thinking":`+jsonOf(texts.Draw(t, "thought"))+`,"thinkingSignature":"c2ln"}`)
				case 2:
					calls++
					all = append(all, fmt.Sprintf(`{"type":"toolCall","id":"c%d","name":"bash","arguments":{"command":%s}}`, calls, jsonOf(texts.Draw(t, "argument"))))
					if rapid.Bool().Draw(t, "answered") {
						results = append(results, fmt.Sprintf(`"message":{"role":"toolResult","toolCallId":"c%d","toolName":"bash","content":%s,"isError":%t,"timestamp":1}`, calls, parts(), rapid.Bool().Draw(t, "failed")))
					}
				}
			}
			add("message", `"message":{"role":"assistant","content":[`+strings.Join(all, ",")+`],"api":"a","provider":"p","model":"m","usage":{},"stopReason":"toolUse","timestamp":1}`)
			for _, r := range results {
				add("message", r)
			}
		}
	}
	return out.String()
}

// TestRoundTrip: a transcript without branches is written as it was read, also from the
// Markdown that was made of it.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		original := entries(t)
		all, err := formattest.Open(pi.Codec(), []byte(original))
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || all[0].Document.Damage != nil {
			t.Fatalf("%d branches, %v\n%s", len(all), all[0].Document.Damage, original)
		}
		md, err := markdown.Encode(all[0].Document)
		if err != nil {
			t.Fatal(err)
		}
		again, err := markdown.Decode(format.Source{Data: md})
		if err != nil {
			t.Fatal(err)
		}
		for name, doc := range map[string]*domarkx.Document{"as read": all[0].Document, "from Markdown": again} {
			var lost format.Losses
			out, err := pi.Encode(doc, format.Target{Losses: &lost})
			if err != nil || lost.Len() > 0 {
				t.Fatalf("%s: %v, lost %q", name, err, lost.Texts())
			}
			if string(out) != original {
				t.Fatalf("%s:\n%s\nwant:\n%s\nMarkdown:\n%s", name, out, original, md)
			}
		}
	})
}

// TestGrowEqualsDecode: a transcript that is read in two parts makes the messages that
// it makes in one.
func TestGrowEqualsDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		original := []byte(entries(t))
		first := bytes.IndexByte(original, '\n') + 1
		cut := rapid.IntRange(first, len(original)).Draw(t, "cut")
		codec := pi.Codec()
		whole, err := formattest.Open(codec, original)
		if err != nil {
			t.Fatal(err)
		}
		before, err := formattest.Open(codec, bytes.Clone(original[:cut]))
		if err != nil {
			t.Fatal(err)
		}
		b := before[0]
		grown, ok, err := codec.Grow(format.Growth{Data: original[b.Read:], State: b.State, Header: b.Document.Header})
		if err != nil || !ok {
			return // it needs the whole document
		}
		got := append(b.Document.Conversation, grown.Messages...)
		want := whole[0].Document
		if len(got) != len(want.Conversation) || !grown.Header.Value().Equal(want.Header.Value()) || grown.State != whole[0].State || b.Read+grown.Read != whole[0].Read {
			t.Fatalf("%d messages, want %d; %s\n%s\n%s", len(got), len(want.Conversation), grown.State, whole[0].State, original)
		}
		for i := range got {
			if !got[i].Message.Equal(want.Conversation[i].Message) || got[i].Origin != want.Conversation[i].Origin {
				t.Fatalf("message %d is %+v, want %+v", i, got[i].Message.Value().JSON(), want.Conversation[i].Message.Value().JSON())
			}
		}
	})
}

// FuzzDecode: whatever a transcript holds, each of its conversations can be shown and
// written, and what is written is read as one conversation of as many messages.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"v3", "branches", "v1", "v2"} {
		f.Add([]byte(formattest.Read(f, "testdata/"+name+".jsonl")))
	}
	f.Add([]byte(header + one + two[:80] + "\n" + three))
	f.Add([]byte(header + strings.Replace(one, "null", `"e2"`, 1) + two + "\x00" + three + three))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := formattest.Open(pi.Codec(), data)
		if err != nil {
			return
		}
		for _, b := range all {
			if _, err := markdown.Encode(b.Document); err != nil {
				t.Fatal(err)
			}
			out, err := pi.Encode(b.Document, format.Target{})
			if err != nil {
				t.Fatal(err)
			}
			again, err := formattest.Open(pi.Codec(), out)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got, want := len(again[0].Document.Conversation), len(b.Document.Conversation); got != want {
				t.Fatalf("%d messages, want %d:\n%s", got, want, out)
			}
		}
	})
}
