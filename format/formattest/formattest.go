// Package formattest tests codecs: golden files, round trips, growth, and what holds for every
// transcript of another program.
package formattest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/format/transcript"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

// Read returns the content of a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Golden compares a text with a golden file, or writes the file with -update.
func Golden(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(Read(t, path), got); diff != "" {
		t.Errorf("%s (-golden +got):\n%s", path, diff)
	}
}

// A TB is a test, or a run of a property test.
type TB interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// A Conversation is one of the conversations in a document, with all its messages.
type Conversation struct {
	Suffix   string
	Document *domarkx.Document
	State    string
	Read     int64
}

// Open reads all conversations of a document.
func Open(codec format.Codec, data []byte) ([]Conversation, error) {
	return open(codec, format.File{Path: "s.jsonl", Content: bytes.NewReader(data), Size: int64(len(data))})
}

func open(codec format.Codec, f format.File) ([]Conversation, error) {
	var all []Conversation
	for s, err := range codec.Open(f) {
		if err != nil {
			return nil, err
		}
		doc, err := s.Document()
		if err != nil {
			return nil, err
		}
		all = append(all, Conversation{s.Suffix, doc, s.State, s.Read})
	}
	return all, nil
}

// MustOpen is Open for a document that can be read.
func MustOpen(t testing.TB, codec format.Codec, data string) []Conversation {
	t.Helper()
	all, err := Open(codec, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Encode writes a document, and returns the losses.
func Encode(t TB, codec format.Codec, doc *domarkx.Document) (string, []string) {
	t.Helper()
	var lost format.Losses
	out, err := codec.Encode(doc, format.Target{Session: "s", Losses: &lost})
	if err != nil {
		t.Fatal(err)
	}
	return string(out), lost.Texts()
}

// Markdown returns a document as Markdown, after checking that it reads as the same document.
func Markdown(t TB, doc *domarkx.Document) string {
	t.Helper()
	md, err := markdown.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	again, err := markdown.Decode(format.Source{Data: md})
	if err != nil {
		t.Fatal(err)
	}
	if !again.Header.Value().Equal(doc.Header.Value()) || len(again.Conversation) != len(doc.Conversation) {
		t.Fatalf("the Markdown reads as another document:\n%s", md)
	}
	for k, m := range again.Conversation {
		if want := doc.Conversation[k].Message; !m.Message.Equal(want) {
			t.Fatalf("the Markdown of message %d reads as another one:\n%s", k, cmp.Diff(want.Value().JSON(), m.Message.Value().JSON()))
		}
	}
	return string(md)
}

// CheckTranscript compares the conversations of a transcript with the golden files DIR/NAME*.md and,
// where the format can be written, the result for each with DIR/NAME*.written, and reads that
// again: it must be the same conversation without damage.
func CheckTranscript(t testing.TB, codec format.Codec, dir, name, data string) {
	t.Helper()
	if !codec.Detect([]byte(data)[:min(len(data), format.HeadSize)], "") {
		t.Errorf("%s is not recognised", name)
	}
	for _, c := range MustOpen(t, codec, data) {
		if c.Document.Damage != nil {
			t.Errorf("%s: damage: %v", name, c.Document.Damage)
		}
		CheckInert(t, codec.Name, c.Document)
		path := filepath.Join(dir, name+c.Suffix)
		Golden(t, path+".md", Markdown(t, c.Document))
		if codec.Write == nil {
			continue
		}
		written, lost := checkWritten(t, codec, c.Document)
		Golden(t, path+".written", written+"\nLost:\n"+strings.Join(lost, "\n")+"\n")
	}
}

// checkWritten writes a document, which must read as the same conversation without damage, and returns the losses.
func checkWritten(t TB, codec format.Codec, doc *domarkx.Document) (string, []string) {
	t.Helper()
	out, lost := Encode(t, codec, doc)
	again, err := Open(codec, []byte(out))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(again) != 1 || again[0].Document.Damage != nil {
		t.Fatalf("what was written reads as %d conversations, with damage %v:\n%s", len(again), again[0].Document.Damage, out)
	}
	if diff := cmp.Diff(Said(doc), Said(again[0].Document)); diff != "" {
		t.Fatalf("what was written reads differently (-wanted +got):\n%s\n%s", diff, out)
	}
	return out, lost
}

// Said returns the texts of a document with their roles, without thoughts, metadata, and the names of
// tools. Messages of one side that follow each other are one.
func Said(doc *domarkx.Document) []string {
	var all []string
	last := domarkx.Role("")
	for _, m := range doc.Conversation {
		var b strings.Builder
		for i, block := range m.Content {
			said := saidIn(block)
			if i == 0 || m.Content[i-1].Language != "tool-call" { // a result without a call is written as text
				said = strings.TrimPrefix(said, "result ")
			}
			if said != "" {
				b.WriteString(" " + said)
			}
		}
		switch {
		case b.Len() == 0:
		case m.Role == last:
			all[len(all)-1] += b.String()
		default:
			last = m.Role
			all = append(all, string(m.Role)+":"+b.String())
		}
	}
	return all
}

func saidIn(b domarkx.Block) string {
	call, isCall := transcript.CallOf(b)
	result, isResult := transcript.ResultOf(b)
	switch {
	case b.Language == "thought":
		return ""
	case isCall:
		return "call " + call.Arguments.JSON()
	case isResult && result.Code == "no_result":
		return "result The call was not completed."
	case isResult && result.Value.Kind() != jsonvalue.String:
		return "result " + result.Value.JSON()
	case isResult:
		return "result " + words(result.Value.Text())
	}
	return words(b.Text)
}

// words returns the words of a text without the fences of code: two messages that are written as one may make
// code a part of a text, if the text of the other may not be read as blocks.
func words(s string) string {
	isFence := func(word string) bool { return strings.HasPrefix(word, "```") || strings.HasPrefix(word, "~~~") }
	return strings.Join(slices.DeleteFunc(strings.Fields(s), isFence), " ")
}

// CheckInert checks that nothing in a transcript can run or configure anything: each tool-call block
// is of the resource that stands for the agent and has its result, and no other block is special.
func CheckInert(t TB, resource string, doc *domarkx.Document) {
	t.Helper()
	for k, m := range doc.Conversation {
		for i, b := range m.Content {
			if b.Type != domarkx.CodeBlock {
				continue
			}
			switch b.Language {
			case "workspace-config", "session-config", "setup-script", "domarkx-snapshot", "domarkx-message", "msg-metadata":
				t.Errorf("message %d has a block %s", k, b.Language)
			case "tool-call":
				v, err := jsonvalue.ParseValue([]byte(b.Text))
				if name, _ := v.Get("resource"); err != nil || name.Text() != resource || m.Role != domarkx.Assistant {
					t.Errorf("message %d of the %s has a call that is no record: %s", k, m.Role, b.Text)
				}
				if i+1 == len(m.Content) || m.Content[i+1].Language != "tool-result" {
					t.Errorf("message %d has a call without a result", k)
				}
			}
			if b.HasName {
				t.Errorf("message %d has code with the name %q", k, b.Name)
			}
		}
	}
	if len(doc.Header.ExecutionConfig.Members()) > 0 || doc.Header.Setup != nil {
		t.Error("the header configures the session")
	}
}

// CheckGrowth checks that reading a document in two parts gives the same session as reading it whole, if the codec takes
// the second part for growth. It reports whether it did.
func CheckGrowth(t TB, codec format.Codec, data []byte, cut int) bool {
	t.Helper()
	before, err := Open(codec, bytes.Clone(data[:cut]))
	if err != nil || before[0].State == "" {
		return false
	}
	b := before[0]
	grown, ok, err := codec.Grow(format.Growth{Path: "s.jsonl", Data: data[b.Read:], State: b.State, Header: b.Document.Header})
	if err != nil || !ok {
		return false
	}
	whole, err := Open(codec, data)
	if err != nil {
		t.Fatal(err)
	}
	want := whole[0].Document
	got := append(b.Document.Conversation, grown.Messages...)
	if len(got) != len(want.Conversation) {
		t.Fatalf("%d messages after growth at %d, want %d:\n%s", len(got), cut, len(want.Conversation), data)
	}
	for i := range got {
		if !got[i].Message.Equal(want.Conversation[i].Message) || got[i].Origin != want.Conversation[i].Origin || got[i].Date != want.Conversation[i].Date {
			t.Fatalf("message %d after growth at %d is\n%s\nwant\n%s", i, cut, got[i].Message.Value().JSON(), want.Conversation[i].Message.Value().JSON())
		}
	}
	if diff := cmp.Diff(want.Header.Value().JSON(), grown.Header.Value().JSON()); diff != "" {
		t.Fatalf("header after growth at %d (-wanted +got):\n%s", cut, diff)
	}
	if b.Read+grown.Read != whole[0].Read {
		t.Fatalf("read %d bytes after growth at %d, want %d", b.Read+grown.Read, cut, whole[0].Read)
	}
	return true
}

// CheckAny checks what holds whatever a document holds: its conversations can be shown, stored and
// written, and nothing in them can run.
func CheckAny(t TB, codec format.Codec, data []byte) {
	t.Helper()
	all, err := Open(codec, data)
	if err != nil {
		return
	}
	for _, c := range all {
		CheckInert(t, codec.Name, c.Document)
		Markdown(t, c.Document)
		for k, m := range c.Document.Conversation {
			if m.Depth() > domarkx.MaxMessageDepth {
				t.Fatalf("message %d is nested %d levels deep", k, m.Depth())
			}
		}
		if codec.Write != nil && len(c.Document.Conversation) > 0 {
			checkWritten(t, codec, c.Document)
		}
	}
}
