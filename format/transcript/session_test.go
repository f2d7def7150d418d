package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/format/transcript"
)

func source(data string) format.Source { return format.Source{Path: "f", Data: []byte(data)} }

func file(data string) format.File {
	return format.File{Path: "f", Content: strings.NewReader(data), Size: int64(len(data))}
}

// TestHeader: what the front matter says about a session.
func TestHeader(t *testing.T) {
	for _, test := range []struct {
		name    string
		records []string
		want    string
	}{
		{"nothing", nil, `{"agent":"toy","session_id":"s1"}`},
		{"everything", []string{`{"title": "T", "rank": 1, "sub": "a1", "parent": "p1", "cwd": "/w", "branch": "main"}`, `{"is": "user", "text": "Hi", "time": "2026-03-01T10:00:00Z"}`},
			`{"title":"T","agent":"toy","session_id":"s1","agent_id":"a1","parent":"p1","created_at":"2026-03-01T10:00:00Z","cwd":"/w","git_branches":["main"]}`},
		{"the first prompt is the title", []string{`{"is": "model", "say": ["x"]}`, `{"is": "user", "text": "What\n\tis  this?"}`, `{"is": "user", "text": "And that?"}`},
			`{"title":"What is this?","agent":"toy","session_id":"s1"}`},
		{"a queued prompt is not", []string{`{"is": "user", "queued": true, "text": "wait"}`, `{"is": "user", "text": "Hi"}`}, `{"title":"Hi","agent":"toy","session_id":"s1"}`},
		{"a long prompt is cut", []string{`{"is": "user", "text": "` + strings.Repeat("ä", 100) + `"}`}, `{"title":"` + strings.Repeat("ä", 79) + `…","agent":"toy","session_id":"s1"}`},
		{"a title of a lower rank does not replace another", []string{`{"title": "user's", "rank": 2}`, `{"title": "model's", "rank": 1}`}, `{"title":"user's","agent":"toy","session_id":"s1"}`},
		{"a title of the same rank does", []string{`{"title": "a", "rank": 2}`, `{"title": "b", "rank": 2}`, `{"title": "", "rank": 3}`}, `{"title":"b","agent":"toy","session_id":"s1"}`},
		{"the first directory, and all branches once", []string{`{"cwd": "/a", "branch": "x"}`, `{"cwd": "/b", "branch": "y"}`, `{"branch": "x"}`, `{}`},
			`{"agent":"toy","session_id":"s1","cwd":"/a","git_branches":["x","y"]}`},
		{"half of a surrogate pair in the title", []string{`{"title": "a\ud83d b"}`}, `{"title":"a b","agent":"toy","session_id":"s1"}`},
	} {
		h := open(t, lines(test.records...))[0].Document.Header
		if got := h.UserMetadata.JSON(); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
	var many []string
	for i := range 150 {
		many = append(many, fmt.Sprintf(`{"branch": "b%d"}`, i))
	}
	h := open(t, lines(many...))[0].Document.Header
	if n := len(transcript.Get(*h.UserMetadata, "git_branches").Items()); n != 100 {
		t.Errorf("%d of 150 branches are listed", n)
	}
}

// TestIdentity: which session a header is of, and how it is named.
func TestIdentity(t *testing.T) {
	user := `{"is": "user", "text": "Hi, %s", "time": "2026-03-01T23:30:00-02:00"}`
	for _, test := range []struct {
		name    string
		records []string
		want    format.Identity
	}{
		{"a session", []string{fmt.Sprintf(user, "you!")}, format.Identity{ID: `["s1","",""]`, Name: "toy/2026-03-02-hi-you", SessionID: "s1", CreatedAt: "2026-03-01T23:30:00-02:00"}},
		{"without a time and a prompt", nil, format.Identity{ID: `["s1","",""]`, Name: "toy/undated-untitled", SessionID: "s1"}},
		{"without an id", []string{`{"toy": ""}`}, format.Identity{Name: "toy/undated-untitled"}},
		{"a sub-agent", []string{`{"sub": "agent-0123456789", "parent": "p1"}`},
			format.Identity{ID: `["s1","agent-0123456789",""]`, Name: "toy/undated-untitled", SessionID: "s1", Parent: `["p1","",""]`, Suffix: ".agent-23456789"}},
		{"a session that another one started", []string{`{"parent": "p1"}`},
			format.Identity{ID: `["s1","",""]`, Name: "toy/undated-untitled", SessionID: "s1", Parent: `["p1","",""]`, Suffix: ".agent-s1"}},
	} {
		got := transcript.Codec(toy()).Identify(open(t, lines(test.records...))[0].Document.Header)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	c := transcript.Codec(toy())
	if got := c.Identify(domarkx.NewHeader()); got != (format.Identity{}) {
		t.Errorf("a header without metadata is of %+v", got)
	}
	if got := c.Identify(headerOf(`{"agent": "other", "session_id": "s1"}`)); got != (format.Identity{}) {
		t.Errorf("the header of another agent is of %+v", got)
	}
}

func headerOf(metadata string) domarkx.Header {
	h := domarkx.NewHeader()
	v, err := jsonvalue.ParseValue([]byte(metadata))
	if err != nil {
		panic(err)
	}
	h.UserMetadata = &v
	return h
}

// TestBranchIdentity: a branch is a session of its own, and only a part of the file.
func TestBranchIdentity(t *testing.T) {
	c := transcript.Codec(toy())
	all := open(t, lines(`{"is": "user", "id": "p1", "text": "a"}`, `{"drop": 1}`, `{"is": "user", "id": "p2", "text": "b"}`))
	main, branch := all[0].Document.Header, all[1].Document.Header
	if c.IsPart(main) || !c.IsPart(branch) || c.IsPart(domarkx.NewHeader()) {
		t.Error("a branch is a part of its file, and the conversation is not")
	}
	if got := c.Identify(branch); got.ID != `["s1","","p1"]` || got.Name != "" {
		t.Errorf("the branch is %+v", got)
	}
}

// TestFork: a fork of a session is another one of the agent.
func TestFork(t *testing.T) {
	c := transcript.Codec(toy())
	h, ok := c.Fork(headerOf(`{"agent": "toy", "session_id": "s1", "agent_id": "a", "fork": "f", "title": "T"}`), format.Fork{UUID: "new"})
	if got := h.UserMetadata.JSON(); !ok || got != `{"agent":"toy","session_id":"new","title":"T"}` {
		t.Errorf("%t, %s", ok, got)
	}
	if _, ok := c.Fork(domarkx.NewHeader(), format.Fork{UUID: "new"}); ok {
		t.Error("a session of no agent was forked")
	}
}

// TestPlace: where the program keeps a transcript.
func TestPlace(t *testing.T) {
	c := transcript.Codec(toy())
	data := `{"toy": "../a/b", "cwd": "/w"}` + "\n"
	for attempt, want := range []string{"toys/.._a_b.jsonl", "toys/.._a_b-2.jsonl", "toys/.._a_b-3.jsonl"} {
		got, err := c.Place(file(data), attempt)
		if err != nil || got != (format.Place{Path: want, ID: `["../a/b","",""]`}) {
			t.Errorf("attempt %d: %+v, %v", attempt, got, err)
		}
	}
	if _, err := c.Place(file("{}\n"), 0); !isSyntaxError(err) {
		t.Errorf("no transcript: %v", err)
	}
}

func isSyntaxError(err error) bool {
	var at *syntax.Error
	return errors.As(err, &at)
}

// TestNoTranscript: what does not begin like a transcript is not read.
func TestNoTranscript(t *testing.T) {
	c := transcript.Codec(toy())
	for _, data := range []string{"", "\n", "{}\n", "text {\"toy\": 1}\n", "[{\"toy\": 1}]\n", "{\"x\": 1}\n{\"toy\": \"s1\"}\n"} {
		if c.Detect([]byte(data), "s.jsonl") {
			t.Errorf("%q is recognised", data)
		}
		if _, err := c.Decode(source(data)); !isSyntaxError(err) || err.Error() != "f:1:1: does not begin like a transcript of Toy" {
			t.Errorf("%q: %v", data, err)
		}
	}
	for _, data := range []string{lines(), "\ufeff" + lines(), "\n\r\n" + lines(), "{\"toy\": \"s1\", \"x\": \"" + strings.Repeat("x", 1<<10)} {
		if !c.Detect([]byte(data), "") {
			t.Errorf("%.30q is not recognised", data)
		}
	}
}

// TestReadErrors: an error while reading is reported with the file's name, and a file that changed in between too.
func TestReadErrors(t *testing.T) {
	data := lines(`{"is": "user", "text": "Hi"}`, `{"drop": 1}`, `{"is": "user", "text": "there"}`)
	broken := errors.New("broken disk")
	for reads := range 8 {
		content := &failing{strings.NewReader(data), reads, broken}
		err := readAll(format.File{Path: "f", Content: content, Size: int64(len(data))})
		if content.reads >= 0 && err == nil { // it was read without coming to the error
			break
		}
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "f: ") {
			t.Errorf("read %d fails: %v", reads, err)
		}
	}
	short := format.File{Path: "f", Content: strings.NewReader(data[:20]), Size: int64(len(data))}
	if err := readAll(short); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("a file that became shorter: %v", err)
	}
	changing := &rewritten{first: lines(`{"is": "user", "text": "Hi"}`, strings.Repeat(" ", 1<<20)+"{}")}
	changing.then = strings.Replace(changing.first, `"Hi"}`, `"H}}}`, 1)
	if err := readAll(format.File{Path: "f", Content: changing, Size: int64(len(changing.first))}); !errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("a file that was rewritten: %v", err)
	}
}

// readAll reads all messages of all conversations.
func readAll(f format.File) error {
	for s, err := range transcript.Codec(toy()).Open(f) {
		if err != nil {
			return err
		}
		if _, err := s.Document(); err != nil {
			return err
		}
	}
	return nil
}

// failing is content whose reads fail after the first ones.
type failing struct {
	*strings.Reader
	reads int
	err   error
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if f.reads--; f.reads < 0 {
		return 0, f.err
	}
	return f.Reader.ReadAt(p, off)
}

// rewritten is content that is another one when it is read from its beginning again.
type rewritten struct {
	first, then string
	ends        int
}

func (r *rewritten) ReadAt(p []byte, off int64) (int, error) {
	content := r.first
	if r.ends > 0 {
		content = r.then
	}
	if off+int64(len(p)) == int64(len(content)) {
		r.ends++
	}
	return bytes.NewReader([]byte(content)).ReadAt(p, off)
}

// TestStopsReading: a caller may stop after each conversation.
func TestStopsReading(t *testing.T) {
	data := lines(`{"is": "user", "text": "1"}`, `{"drop": 1}`, `{"is": "user", "text": "2"}`, `{"drop": 1}`, `{"is": "user", "text": "3"}`)
	for want := 1; want <= 3; want++ {
		read := 0
		for _, err := range transcript.Codec(toy()).Open(file(data)) {
			if err != nil {
				t.Fatal(err)
			}
			if read++; read == want {
				break
			}
		}
		if read != want {
			t.Errorf("read %d conversations, want %d", read, want)
		}
	}
}

// TestManyBranches: a hostile transcript makes neither too many sessions nor too long ones.
func TestManyBranches(t *testing.T) {
	var b strings.Builder
	b.WriteString(lines())
	for i := range 1500 {
		fmt.Fprintf(&b, `{"is": "user", "id": "%d", "text": "x"}`+"\n"+`{"drop": 1}`+"\n", i)
	}
	all := open(t, b.String())
	if len(all) != 1001 { // the conversation, and a thousand branches
		t.Errorf("%d conversations", len(all))
	}
	if got := damage(all[0].Document); len(got) != 1 || !strings.Contains(got[0], "more branches than become sessions") {
		t.Errorf("reports %q", got)
	}
	if testing.Short() {
		t.Skip("long branches take a second")
	}
	b.Reset()
	b.WriteString(lines())
	for range 2000 {
		b.WriteString(`{"is": "model", "alone": true}` + "\n")
	}
	for range 500 {
		b.WriteString(`{"is": "user", "text": "x"}` + "\n" + `{"drop": 1}` + "\n")
	}
	total, doc := 0, (*domarkx.Document)(nil)
	for s, err := range transcript.Codec(toy()).Open(file(b.String())) {
		if err != nil {
			t.Fatal(err)
		}
		if doc == nil {
			doc = &domarkx.Document{Damage: s.Damage}
		}
		total += s.Messages.Len()
	}
	if total > 110_000 || len(doc.Damage) != 1 {
		t.Errorf("%d messages in branches, reports %q", total, damage(doc))
	}
}

// TestItemsOutsideOfTheFile: records that have no place in the file are reported, and nothing else is read as them.
func TestItemsOutsideOfTheFile(t *testing.T) {
	for name, test := range map[string]struct{ data, report string }{
		"beside the array":      {"{\n\"toy\": \"s1\",\n\"records\": [],\n\"items\": [{\"is\": \"user\", \"text\": \"x\"}]}", "has records outside of its array"},
		"no object":             {lines(`{"items": [5, "x"]}`), "bytes 14 to 32 could not be read"},
		"in a line with damage": {lines("{\"x\": \"\x01\", \"items\": [{\"is\": \"user\", \"text\": \"x\"}]}"), "control characters"},
	} {
		c := open(t, test.data)[0]
		if got := damage(c.Document); len(got) == 0 || !strings.Contains(got[0], test.report) || len(c.Document.Conversation) != 0 {
			t.Errorf("%s: reports %q, messages %q", name, got, formattest.Shown(c.Document))
		}
	}
}

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"Checkout: 3 s to 200 ms":         "checkout-3-s-to-200-ms",
		"--a--b--":                        "a-b",
		"ÄÖ/ß é":                          "äö-ß-é",
		"日本 語":                            "日本-語",
		"e\u0301":                         "e\u0301",
		"\xff\xfe":                        "",
		"..":                              "",
		strings.Repeat("x", 100):          strings.Repeat("x", 60),
		strings.Repeat("x", 60) + " tail": strings.Repeat("x", 60),
		strings.Repeat("abc ", 40):        strings.TrimSuffix(strings.Repeat("abc-", 15), "-"),
	} {
		if got := transcript.Slug(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
