package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

func textBlock(s string) domarkx.Block { return domarkx.Block{Type: domarkx.TextBlock, Text: s} }

func message(role domarkx.Role, metadata string, blocks ...domarkx.Block) domarkx.WrittenMessage {
	m := domarkx.WrittenMessage{Message: domarkx.Message{Role: role, Content: blocks}}
	if metadata != "" {
		m.Metadata = headerOf(metadata).UserMetadata
	}
	return m
}

// written collects what the toy's Write gets of a document: the session, the turns and the losses.
type written struct {
	session transcript.Session
	model   string
	next    string
	turns   []transcript.Turn
	lost    []string
}

func write(t *testing.T, h domarkx.Header, to format.Target, messages ...domarkx.WrittenMessage) written {
	t.Helper()
	var w written
	var losses format.Losses
	to.Losses = &losses
	agent := toy()
	agent.Write = func(out *transcript.Writer) error {
		w.turns = nil
		for turn := range out.Turns() {
			w.turns = append(w.turns, turn)
		}
		w.session, w.model, w.next = out.Session, out.Model, out.Next
		return nil
	}
	if _, err := transcript.Codec(agent).Encode(&domarkx.Document{Header: h, Conversation: messages}, to); err != nil {
		t.Fatal(err)
	}
	w.lost = losses.Texts()
	return w
}

// TestWriterSession: a session of the agent keeps its id, another one gets one that follows from it, and all have a
// time and a directory.
func TestWriterSession(t *testing.T) {
	own := func(more string) domarkx.Header {
		return headerOf(`{"agent": "toy", "session_id": "s1"` + more + `}`)
	}
	imported := domarkx.NewHeader()
	imported.ImportTimestamp = "2026-02-01T00:00:00Z"
	dated := message(domarkx.User, "", textBlock("Hi"))
	dated.Date = 1772359200
	epoch := "1970-01-01T00:00:00.000Z"
	for _, test := range []struct {
		name   string
		header domarkx.Header
		to     format.Target
		first  domarkx.WrittenMessage
		want   transcript.Session // its ID is "" when a new one is expected
	}{
		{"its own", own(`, "title": "T", "cwd": "/w", "created_at": "2026-03-01T10:00:00.5Z"`), format.Target{}, dated, transcript.Session{ID: "s1", Title: "T", Cwd: "/w", Created: "2026-03-01T10:00:00.500Z"}},
		{"without a time: that of the first message", own(""), format.Target{}, dated, transcript.Session{ID: "s1", Cwd: "/", Created: "2026-03-01T10:00:00.000Z"}},
		{"no time at all", own(""), format.Target{}, message(domarkx.User, ""), transcript.Session{ID: "s1", Cwd: "/", Created: epoch}},
		{"a time before 1970", own(`, "created_at": "1969-01-01T00:00:00Z"`), format.Target{}, dated, transcript.Session{ID: "s1", Cwd: "/", Created: epoch}},
		{"another program's", imported, format.Target{}, message(domarkx.User, ""), transcript.Session{Cwd: "/", Created: "2026-02-01T00:00:00.000Z"}},
		{"another program's with metadata", headerOf(`{"agent": "other", "session_id": "s1", "title": "T", "cwd": "/w"}`), format.Target{}, dated, transcript.Session{Title: "T", Cwd: "/w", Created: "2026-03-01T10:00:00.000Z"}},
		{"a sub-agent's is a session of its own", own(`, "agent_id": "a"`), format.Target{}, dated, transcript.Session{Cwd: "/", Created: "2026-03-01T10:00:00.000Z"}},
		{"a branch is too", own(`, "fork": "f"`), format.Target{}, dated, transcript.Session{Cwd: "/", Created: "2026-03-01T10:00:00.000Z"}},
		{"a new session", own(`, "cwd": "/w"`), format.Target{New: &format.NewSession{ID: "n", WorkDir: "/n", Model: "m"}}, dated, transcript.Session{ID: "n", Cwd: "/n", Created: "2026-03-01T10:00:00.000Z"}},
	} {
		got := write(t, test.header, test.to, test.first)
		if test.want.ID == "" {
			if uuid.Validate(got.session.ID) != nil {
				t.Errorf("%s: the id is %q", test.name, got.session.ID)
			}
			got.session.ID = ""
		}
		if diff := cmp.Diff(test.want, got.session, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if test.to.New != nil && got.next != "m" {
			t.Errorf("%s: the next model is %q", test.name, got.next)
		}
	}
}

// TestWriterIDs: ids follow from the session and its first message, and from nothing else.
func TestWriterIDs(t *testing.T) {
	id := func(session, first string) string {
		return write(t, domarkx.NewHeader(), format.Target{Session: session}, message(domarkx.User, "", textBlock(first)), message(domarkx.Assistant, "", textBlock("A"))).session.ID
	}
	first := id("a", "x")
	if again := id("a", "x"); again != first {
		t.Errorf("one session gets two ids: %s and %s", first, again)
	}
	if first == id("b", "x") || first == id("a", "y") {
		t.Error("two sessions get one id")
	}
	stored := message(domarkx.User, "", textBlock("x"))
	stored.ID = domarkx.ID{1}
	edited := message(domarkx.User, "", textBlock("y"))
	edited.ID = domarkx.ID{1}
	if a, b := write(t, domarkx.NewHeader(), format.Target{}, stored), write(t, domarkx.NewHeader(), format.Target{}, edited); a.session.ID != b.session.ID || a.turns[0].ID != b.turns[0].ID {
		t.Error("an edit of a stored message changes ids")
	}
	for _, version := range []uuid.Version{4, 7} {
		agent := toy()
		agent.Version7 = version == 7
		agent.Write = func(w *transcript.Writer) error {
			parsed, err := uuid.Parse(w.UUID("a", "b"))
			if err != nil || parsed.Version() != version || parsed.Variant() != uuid.RFC4122 {
				t.Errorf("%v is of version %d, %v", parsed, parsed.Version(), err)
			}
			ms := int64(parsed[0])<<40 | int64(parsed[1])<<32 | int64(parsed[2])<<24 | int64(parsed[3])<<16 | int64(parsed[4])<<8 | int64(parsed[5])
			if want := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC); ms != want.UnixMilli() {
				t.Errorf("%v begins with %d, the session with %d", parsed, ms, want.UnixMilli())
			}
			if w.UUID("a", "b") != parsed.String() || w.UUID("ab") == parsed.String() || w.UUID("a", "c") == parsed.String() {
				t.Error("ids do not follow from their words")
			}
			return nil
		}
		if _, err := transcript.Codec(agent).Encode(&domarkx.Document{Header: headerOf(`{"created_at": "2026-03-01T00:00:00Z"}`)}, format.Target{}); err != nil {
			t.Error(err)
		}
	}
}

// TestTurns: what an agent's Write gets of a message.
func TestTurns(t *testing.T) {
	call := func(id, resource string) domarkx.Block {
		return transcript.Code("tool-call", fmt.Sprintf(`{"resource": %q, "tool": "ls", "id": %q, "arguments": {}}`, resource, id))
	}
	ok := transcript.Code("tool-result", `{"ok": true, "result": "r"}`)
	noResult := transcript.Code("tool-result", `{"ok": false, "error": {"code": "no_result", "message": "none"}}`)
	const recordID = "00000001-0000-4000-8000-000000000001"
	w := write(t, headerOf(`{"agent": "toy", "session_id": "s1", "created_at": "2026-03-01T10:00:00Z"}`), format.Target{},
		message(domarkx.User, `{"id": "`+recordID+`"}`, textBlock("Hi")),
		message(domarkx.Assistant, `{"id": "no uuid", "model": "m1", "usage": {"input": 1, "cache_read": 2, "cache_write": 3, "output": 4, "reasoning": 5}}`,
			transcript.Code("thought", "hm"), textBlock("one"), call("c1", "toy"), ok, call("c1", "toy"), noResult, call("not an id!", "toy"), ok, call("", "toy")),
		message(domarkx.Assistant, "", ok, textBlock("two")))
	if w.model != "m1" {
		t.Errorf("the model is %q", w.model)
	}
	answer := w.turns[1]
	if w.turns[0].ID != recordID || uuid.Validate(answer.ID) != nil || uuid.Validate(w.turns[2].ID) != nil {
		t.Errorf("the ids are %q, %q, %q", w.turns[0].ID, answer.ID, w.turns[2].ID)
	}
	if answer.Index != 1 || answer.Role != domarkx.Assistant || answer.Model != "m1" || *answer.Usage != (transcript.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 4, Reasoning: 5}) {
		t.Errorf("the answer is %+v", answer)
	}
	var ids, said []string
	for _, p := range answer.Parts {
		if p.Call == nil {
			said = append(said, p.Text)
			continue
		}
		if p.Result == nil || p.Result.ID != p.Call.ID {
			t.Errorf("call %s has the result %+v", p.Call.ID, p.Result)
		}
		ids, said = append(ids, p.Call.ID), append(said, p.Result.Said())
	}
	if diff := cmp.Diff([]string{"one", "r", "The call was not completed.", "r", "The call was not completed."}, said); diff != "" {
		t.Errorf("the parts (-want +got):\n%s", diff)
	}
	if ids[0] != "c1" || ids[1] == "c1" || ids[2] == ids[1] || strings.Trim(strings.Join(ids, ""), "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		t.Errorf("the ids of the calls are %q", ids)
	}
	if parts := w.turns[2].Parts; len(parts) != 2 || parts[0].Text != "r" || parts[0].Result != nil {
		t.Errorf("a result without a call is %+v", parts)
	}
	if diff := cmp.Diff([]string{"thoughts, which only the program that had them can send to its model: 1 message", "that a text is the result of a call, which is missing: 1 message"}, w.lost); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	for k := 1; k < len(w.turns); k++ {
		if !w.turns[k].Time.After(w.turns[k-1].Time) {
			t.Errorf("message %d is of %v, the one before of %v", k, w.turns[k].Time, w.turns[k-1].Time)
		}
	}
}

// TestOtherModel: the model of another program's session is not asked again.
func TestOtherModel(t *testing.T) {
	w := write(t, headerOf(`{"agent": "other"}`), format.Target{}, message(domarkx.Assistant, `{"model": "m1", "id": "00000001-0000-4000-8000-000000000001"}`, textBlock("x")))
	if w.model != "" || w.turns[0].Model != "m1" || w.turns[0].ID == "00000001-0000-4000-8000-000000000001" {
		t.Errorf("model %q, turn %+v", w.model, w.turns[0])
	}
}

// TestLosses: each thing that a transcript cannot hold is reported, once.
func TestLosses(t *testing.T) {
	extra := []jsonvalue.Member{{Name: "x_extra", Value: transcript.Num(1)}}
	h := headerOf(`{"agent": "toy", "session_id": "s1", "git_branches": ["b"], "fork": "f", "title": "T", "tags": ["t"]}`)
	h.ExecutionConfig = transcript.Object("model", "m")
	h.Setup = &domarkx.Script{Language: "sh", Code: "rm -rf"}
	h.Extra, h.MetadataExtra = extra, []jsonvalue.Member{{Name: "x_meta", Value: transcript.Num(1)}}
	m := message(domarkx.Assistant, `{"stop_reason": "end", "rating": 5}`, textBlock("a"),
		transcript.Code("tool-call", `{"resource": "shell", "tool": "ls", "id": "c", "arguments": {}}`))
	m.Extra = extra
	m.Content[0].Extra = extra
	want := []string{"execution_config (session-config, workspace-config)", "setup_script", "x_meta", "x_extra", "user_metadata.tags",
		"message_metadata.rating: 1 message", "x_extra: 1 message", "members of its content blocks: 1 message", `which resource a call is of: 1 call`}
	if diff := cmp.Diff(want, write(t, h, format.Target{}, m).lost); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	foreign := headerOf(`{"agent": "other", "session_id": "s1", "parent": "p", "title": "T"}`)
	if diff := cmp.Diff([]string{"user_metadata.agent", "user_metadata.session_id", "user_metadata.parent"}, write(t, foreign, format.Target{}).lost); diff != "" {
		t.Errorf("of another agent's session (-want +got):\n%s", diff)
	}
}

// TestStoredImages: images that the session keeps as files are written into the transcript.
func TestStoredImages(t *testing.T) {
	to := format.Target{File: func(path string) ([]byte, error) {
		if path != "images/a.png" {
			return nil, errors.New("no such file")
		}
		return []byte("A"), nil
	}}
	for text, want := range map[string]string{
		"![x](images/a.png)":              pixel,
		"see\n![x](images/a.png)\nand":    "see\n" + pixel + "\nand",
		"![x](images/b.png)":              "![x](images/b.png)",
		"see ![x](images/a.png)":          "see ![x](images/a.png)",
		"![x](images/a.svg)":              "![x](images/a.svg)",
		"![x](https://example.com/a.png)": "![x](https://example.com/a.png)",
	} {
		if got := write(t, domarkx.NewHeader(), to, message(domarkx.User, "", textBlock(text))).turns[0].Parts[0].Text; got != want {
			t.Errorf("%q is written as %q", text, got)
		}
	}
	m := message(domarkx.User, "", transcript.Code("md", "![x](images/a.png)"), textBlock("![x](images/a.png)"))
	if write(t, domarkx.NewHeader(), to, m); m.Content[1].Text != "![x](images/a.png)" {
		t.Error("the message itself was changed")
	}
	if got := write(t, domarkx.NewHeader(), format.Target{}, m).turns[0].Parts[0].Text; strings.Contains(got, "base64") {
		t.Errorf("without files: %q", got)
	}
}

// TestWriteErrors: an error of the messages, the agent or the output ends the writing.
func TestWriteErrors(t *testing.T) {
	broken := errors.New("broken")
	c := transcript.Codec(toy())
	for k := range 3 {
		if _, err := c.Write(domarkx.NewHeader(), messages{3, k, broken}, format.Target{}); !errors.Is(err, broken) {
			t.Errorf("message %d cannot be read: %v", k, err)
		}
	}
	agent := toy()
	agent.Write = func(w *transcript.Writer) error { return broken }
	if _, err := transcript.Codec(agent).Encode(&domarkx.Document{}, format.Target{}); !errors.Is(err, broken) {
		t.Errorf("the agent cannot write: %v", err)
	}
	writer, err := c.Write(domarkx.NewHeader(), messages{3, -1, nil}, format.Target{})
	if err != nil {
		t.Fatal(err)
	}
	if err := writer(&full{broken}); !errors.Is(err, broken) {
		t.Errorf("the disk is full: %v", err)
	}
	readOnly := toy()
	readOnly.Write = nil
	if c := transcript.Codec(readOnly); c.Write != nil || c.Fork != nil {
		t.Error("a format that is only read has a Write or a Fork")
	} else if _, err := c.Encode(&domarkx.Document{}, format.Target{}); !errors.Is(err, domarkx.ErrUnsupported) {
		t.Errorf("a format that is only read: %v", err)
	}
}

// TestWriteTwice: a writer gives the same bytes each time, and reports losses once.
func TestWriteTwice(t *testing.T) {
	var losses format.Losses
	doc := open(t, lines(`{"is": "user", "text": "Hi"}`, `{"is": "model", "say": [{"thought": "hm"}, {"call": "c", "tool": "t"}]}`))[0].Document
	writer, err := transcript.Codec(toy()).Write(doc.Header, format.Conversation(doc.Conversation), format.Target{Losses: &losses})
	if err != nil {
		t.Fatal(err)
	}
	var once, twice bytes.Buffer
	if err := errors.Join(writer(&once), writer(&twice)); err != nil {
		t.Fatal(err)
	}
	if once.Len() == 0 || !bytes.Equal(once.Bytes(), twice.Bytes()) {
		t.Errorf("%s\nand then\n%s", once.Bytes(), twice.Bytes())
	}
	if losses.Len() != 1 {
		t.Errorf("losses %q", losses.Texts())
	}
	if got := encode(t, doc, format.Target{}); got != once.String() {
		t.Errorf("Encode writes\n%s\nand Write\n%s", got, once.Bytes())
	}
}

// TestRaw: files that are not JSON lines.
func TestRaw(t *testing.T) {
	agent := toy()
	agent.Write = func(w *transcript.Writer) error {
		w.Raw(`{"toy":"x",`)
		w.Raw("\n" + `"records":[]}`)
		return nil
	}
	got, err := transcript.Codec(agent).Encode(&domarkx.Document{}, format.Target{})
	if err != nil || string(got) != "{\"toy\":\"x\",\n\"records\":[]}" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSteps: an answer is divided where the model got results.
func TestSteps(t *testing.T) {
	text, call := transcript.Part{Text: "x"}, transcript.Part{Call: &transcript.Call{}}
	for _, test := range []struct {
		parts []transcript.Part
		want  string
	}{
		{nil, ""},
		{[]transcript.Part{text, text}, "tt"},
		{[]transcript.Part{call, call}, "cc"},
		{[]transcript.Part{text, call, call, text, text, call, text}, "tcc ttc t"},
	} {
		var steps []string
		for _, step := range transcript.Steps(test.parts) {
			var b strings.Builder
			for _, p := range step {
				if p.Call != nil {
					b.WriteByte('c')
				} else {
					b.WriteByte('t')
				}
			}
			steps = append(steps, b.String())
		}
		if got := strings.Join(steps, " "); got != test.want {
			t.Errorf("%d parts are divided as %q, want %q", len(test.parts), got, test.want)
		}
	}
}

// messages are n messages; one cannot be read.
type messages struct {
	n, broken int
	err       error
}

func (m messages) Len() int { return m.n }

func (m messages) At(k int) (domarkx.WrittenMessage, error) {
	if k == m.broken {
		return domarkx.WrittenMessage{}, m.err
	}
	return message(domarkx.User, "", textBlock(strings.Repeat("x", 40<<10))), nil
}

type full struct{ err error }

func (f *full) Write([]byte) (int, error) { return 0, f.err }

// TestSummary: a session that was compacted is written whole if models take it, else from its last summary on, with
// what that does not stand for.
func TestSummary(t *testing.T) {
	id := func(n byte) domarkx.ID { return domarkx.ID{15: n} }
	session := func(size int, metadata string) []domarkx.WrittenMessage {
		messages := []domarkx.WrittenMessage{
			message(domarkx.User, `{"compact_summary": true}`, textBlock("an older summary")),
			message(domarkx.User, "", textBlock("begin "+strings.Repeat("x", size))),
			message(domarkx.Assistant, `{"compact_summary": true}`, textBlock("no summary")),
			message(domarkx.User, "", textBlock("before")),
			message(domarkx.User, metadata, textBlock("summary")),
			message(domarkx.Assistant, "", textBlock("after")),
		}
		for k := range messages {
			messages[k].ID = id(byte(k + 1))
		}
		return messages
	}
	all := []int{0, 1, 2, 3, 4, 5}
	for _, test := range []struct {
		name, metadata string
		size           int
		want           []int
		lost           bool
	}{
		{"it fits", `{"compact_summary": true}`, 400_000, all, false},
		{"an agent's summary", `{"compact_summary": true}`, 600_000, []int{4, 5}, true},
		{"a summary by chat", fmt.Sprintf(`{"compacts": %q}`, id(3)), 600_000, []int{4, 3, 5}, true},
		{"of an unknown message", fmt.Sprintf(`{"compacts": %q}`, id(9)), 600_000, []int{4, 5}, true},
		{"an older summary", "", 600_000, all, false},
	} {
		got := write(t, domarkx.NewHeader(), format.Target{}, session(test.size, test.metadata)...)
		var indexes []int
		for _, turn := range got.turns {
			indexes = append(indexes, turn.Index)
		}
		if diff := cmp.Diff(test.want, indexes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if lost := strings.Contains(strings.Join(got.lost, "\n"), "before a summary"); lost != test.lost {
			t.Errorf("%s: lost %q", test.name, got.lost)
		}
	}
	got := write(t, domarkx.NewHeader(), format.Target{}, session(600_000, "")[1:]...)
	if len(got.turns) != 5 {
		t.Errorf("without a summary, %d of 5 messages are written", len(got.turns))
	}
}
