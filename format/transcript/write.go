package transcript

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
)

// A Writer writes a session as a transcript. The same session always gives the same transcript.
type Writer struct {
	// Session describes the session. It always has an ID, a time and a directory, even if the
	// session states none.
	Session Session
	// Model is the model of this agent that gave the last answer so far; "" if unknown.
	Model string
	// Next is the model that will answer next, from [format.NewSession.Model].
	Next string
	// Keep, if not nil, reports whether the agent's Write writes a message in another way than from
	// its parts. Then no loss of the message is recorded.
	Keep func(t Turn, m domarkx.WrittenMessage) bool

	source
	agent  *Agent
	to     format.Target
	out    *bufio.Writer
	own    bool // the session was imported from this agent
	seed   string
	now    time.Time
	calls  map[string]bool // ids of calls that are in use
	failed error
}

// A source is the session to write.
type source struct {
	header   domarkx.Header
	messages format.Messages
	part     part
}

// A Turn is a message to be written.
type Turn struct {
	Index int
	Role  domarkx.Role
	ID    string // of its record: the original one, or one that derives from the message
	Time  time.Time
	Model string // of an answer; "" if unknown
	Parts []Part // without empty texts; each call has a unique id and a result
	Usage *Usage // nil if unknown
}

// write writes a session as a new transcript. It reads each message twice to record losses, and
// twice whenever the transcript is written.
func (a *Agent) write(h domarkx.Header, messages format.Messages, to format.Target) (func(io.Writer) error, error) {
	if a.Write == nil {
		return nil, fmt.Errorf("writing a transcript of %s: %w: its transcripts can only be read", a.Program, domarkx.ErrUnsupported)
	}
	return format.Writing(to, func(out io.Writer, to format.Target) error { return a.WriteTo(out, h, messages, false, to) })
}

// WriteTo writes a session as a new transcript. If the session is too long, and all is false, it
// begins with the last summary.
func (a *Agent) WriteTo(out io.Writer, h domarkx.Header, messages format.Messages, all bool, to format.Target) error {
	part, err := part{summary: -1}, error(nil)
	if !all {
		part, err = partOf(messages)
	}
	if err != nil {
		return err
	}
	if part.summary >= 0 {
		to.Lose("%d messages before a summary, which replaces them: with them, the session is too long for models", part.from)
	}
	w := &Writer{source: source{h, messages, part}, agent: a, to: to, out: bufio.NewWriterSize(out, 64<<10), calls: map[string]bool{}}
	if err := w.begin(); err != nil {
		return err
	}
	if err := a.Write(w); err != nil {
		return err
	}
	if w.failed != nil {
		return w.failed
	}
	return w.out.Flush()
}

// begin sets the properties of the session, and records the losses of its header.
func (w *Writer) begin() error {
	h := w.header
	w.Session, w.own = w.agent.sessionOf(h)
	w.to.LoseHeader(h, "")
	known := []string{keyTitle, keyCwd, keyCreated}
	if w.own {
		known = append(known, keyAgent, keySession, keySub, keyParent, keyBranches, keyFork)
	}
	about := h.Meta()
	for _, m := range about.Members() {
		if !slices.Contains(known, m.Name) {
			w.to.Lose("user_metadata.%s", m.Name)
		}
	}
	w.Session.Title, w.Session.Created, w.Session.Cwd = Text(about, keyTitle), Text(about, keyCreated), cmp.Or(Text(about, keyCwd), "/")
	var first domarkx.WrittenMessage
	if w.messages.Len() > 0 {
		var err error
		if first, err = w.messages.At(0); err != nil {
			return err
		}
	}
	created, ok := format.ParseTime(w.Session.Created)
	if !ok && first.Date > 0 {
		created, ok = time.Unix(first.Date, 0), true
	}
	if !ok {
		created, _ = format.ParseTime(h.ImportTimestamp)
	}
	if created.Unix() < 0 {
		created = time.Unix(0, 0)
	}
	w.now = created.UTC()
	w.Session.Created = w.now.Format(format.ISOTime)
	w.seed = w.agent.Name + "\x00" + w.to.Session + "\x00" + first.ID.String()
	if first.ID.IsZero() {
		w.seed += string(first.Message.Value().AppendJSON(nil, "", ""))
	}
	if !w.own || w.Session.ID == "" || w.agent.isPart(h) || w.Session.Sub != "" {
		w.Session.ID, w.Session.Sub = w.UUID("session"), ""
	}
	if n := w.to.New; n != nil {
		w.Session.ID, w.Session.Sub, w.Session.Cwd = n.ID, "", n.WorkDir
		w.Next = n.Model
	}
	return nil
}

// UUID returns a UUID that derives from the session and the words, and begins with a time, as those
// of version 7 do. Its version is 7 if the agent uses that, and otherwise 4, which all agents
// accept.
func (w *Writer) UUID(words ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%q", w.seed, words))
	id := uuid.UUID(sum[:16])
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(w.now.UnixMilli()))
	copy(id[:6], ms[2:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	if w.agent.Version7 {
		id[6] |= 0x70
	}
	return id.String()
}

// Line writes a record.
func (w *Writer) Line(v jsonvalue.Value) {
	w.out.Write(append(v.AppendJSON(w.out.AvailableBuffer(), "", ""), '\n'))
}

// Raw writes text, for files that are not JSON lines.
func (w *Writer) Raw(s string) { w.out.WriteString(s) }

// Lose records something in a message that the transcript cannot represent.
func (w *Writer) Lose(t Turn, format string, args ...any) { w.to.LoseOf(t.Index, format, args...) }

// LoseCall records something in a call or in its result that the transcript cannot represent.
func (w *Writer) LoseCall(what string) { w.to.LoseCall(what) }

// Turns yields the messages of the session. If one cannot be read, it ends, and WriteTo returns the
// error.
func (w *Writer) Turns() iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		for k := range w.part.indexes(w.messages.Len()) {
			m, err := w.messages.At(k)
			if err != nil {
				w.failed = err
				return
			}
			if !yield(w.turn(k, m)) {
				return
			}
		}
	}
}

func (w *Writer) turn(k int, m domarkx.WrittenMessage) Turn {
	m.Message = w.withImages(m.Message)
	t := Turn{Index: k, Role: m.Role, Parts: Divide(m.Message)}
	if at := time.Unix(m.Date, 0).UTC(); m.Date > 0 && at.After(w.now) {
		w.now = at
	} else {
		w.now = w.now.Add(time.Millisecond)
	}
	t.Time = w.now
	metadata := m.Meta()
	seed := m.ID.String()
	if m.ID.IsZero() {
		seed = fmt.Sprint(k)
	}
	if t.ID = Text(metadata, "id"); !w.own || uuid.Validate(t.ID) != nil {
		t.ID = w.UUID("message", seed)
	}
	if w.Keep != nil && w.Keep(t, m) {
		for _, p := range t.Parts {
			if p.Call != nil {
				w.calls[p.Call.ID] = true
			}
		}
		return t
	}
	if t.Model = Text(metadata, "model"); t.Model != "" && w.own {
		w.Model = t.Model
	}
	if u := Get(metadata, "usage"); u.Kind() == jsonvalue.Object {
		t.Usage = &Usage{Int(u, "input"), Int(u, "cache_read"), Int(u, "cache_write"), Int(u, "output"), Int(u, "reasoning")}
	}
	for _, m := range metadata.Members() {
		switch m.Name {
		case "id", "model", "usage", "stop_reason", "cwd", "git_branch", "response_id", "cost", keyRuns, domarkx.MetadataGlue:
		default:
			w.Lose(t, "message_metadata.%s", m.Name)
		}
	}
	w.to.LoseMembers(k, m.Message)
	for i := range t.Parts {
		w.pair(&t.Parts[i], t, seed, i)
	}
	t.Parts = slices.DeleteFunc(t.Parts, func(p Part) bool { return p.Thought })
	return t
}

// withImages returns a message with the content of images that the session stores as files.
func (w *Writer) withImages(m domarkx.Message) domarkx.Message {
	if w.to.File == nil {
		return m
	}
	m.Content = slices.Clone(m.Content)
	for i, b := range m.Content {
		if b.Type != domarkx.TextBlock || !strings.Contains(b.Text, "![") {
			continue
		}
		m.Content[i].Text = keptImage().ReplaceAllStringFunc(b.Text, func(s string) string {
			name := keptImage().FindStringSubmatch(s)[1]
			content, err := w.to.File(name)
			if err != nil {
				return s
			}
			return "![image](data:image/" + strings.TrimPrefix(path.Ext(name), ".") + ";base64," + base64.StdEncoding.EncodeToString(content) + ")"
		})
	}
	return m
}

// keptImage matches an image that the session stores as a file.
var keptImage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^!\[[^\]\n]*\]\(([^():\s]+\.(?:png|jpeg|gif|webp|avif))\)$`)
})

// pair gives a call a unique id and a result. A result without a call becomes text.
func (w *Writer) pair(p *Part, t Turn, seed string, i int) {
	switch {
	case p.Thought:
		w.Lose(t, "thoughts, which only the program that had them can send to its model")
	case p.Call != nil:
		if id := p.Call.ID; w.calls[id] || !callID().MatchString(id) {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00call %s %d", w.seed, seed, i))
			p.Call.ID = fmt.Sprintf("call_%x", sum[:12])
		}
		w.calls[p.Call.ID] = true
		switch resource := p.Call.Resource; {
		case resource == w.agent.Name:
		case w.to.Records != nil && w.to.Records(resource):
			w.LoseCall("tool names of other agents")
		default:
			w.LoseCall("which resource a call is of")
		}
		if p.Result == nil || p.Result.Failed && p.Result.Code == codeNoResult {
			p.Result = &Result{Failed: true, Value: Str("The call was not completed.")}
		}
		p.Result.ID = p.Call.ID
	case p.Result != nil:
		w.Lose(t, "that a text is the result of a call, which is missing")
		text := p.Result.Said()
		for _, image := range p.Result.Images {
			if markdown, ok := image.Markdown(); ok {
				text += "\n\n" + markdown
			}
		}
		*p = Part{Text: text}
	}
}

// callID matches the ids of calls that all providers accept.
var callID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })

// Items returns the texts and images of a message without calls, as text and image write them.
func (t Turn) Items(text func(string) jsonvalue.Value, image func(mdtext.Image) jsonvalue.Value) []jsonvalue.Value {
	var items []jsonvalue.Value
	for _, p := range t.Parts {
		for _, piece := range mdtext.Pieces(p.Text) {
			if piece.Image != nil {
				items = append(items, image(*piece.Image))
			} else {
				items = append(items, text(piece.Text))
			}
		}
	}
	return items
}

// Steps divides the parts of an answer into steps, each with texts and then calls. A step ends
// where the model got the results of its calls.
func Steps(parts []Part) [][]Part {
	var steps [][]Part
	for i, p := range parts {
		if i == 0 || p.Call == nil && parts[i-1].Call != nil {
			steps = append(steps, nil)
		}
		steps[len(steps)-1] = append(steps[len(steps)-1], p)
	}
	return steps
}

// fork returns the header of a session with a new id.
func (a *Agent) fork(h domarkx.Header, f format.Fork) (domarkx.Header, bool) {
	if _, ok := a.sessionOf(h); !ok {
		return h, false
	}
	about := h.UserMetadata.Without(keyFork).Without(keySub).With(keySession, Str(f.UUID))
	h.UserMetadata = &about
	return h, true
}

// place returns where the agent stores a transcript. From the second attempt on, it appends a
// number.
func (a *Agent) place(f format.File, attempt int) (format.Place, error) {
	for s, err := range a.open(f) {
		if err != nil {
			return format.Place{}, err
		}
		session, _ := a.sessionOf(s.Header)
		name := a.Path(session)
		if attempt > 0 {
			name += fmt.Sprintf("-%d", attempt+1)
		}
		return format.Place{Path: name + ".jsonl", ID: a.identify(s.Header).ID}, nil
	}
	panic("a transcript without a conversation of its own")
}
