package transcript

import (
	"fmt"
	"hash/maphash"
	"math"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonlines"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// An index holds the messages of a transcript.
type index struct {
	*jsonlines.Reader
	path    string
	agent   *Agent
	one     bool // the file is one object
	session Session
	answer  int32 // the message to which answers without a Group are added; -1 for none
	about   int32 // the message to which records of kind About are added; -1 for none
	tree
	named
	growth

	subs    []*index        // those of the sub-agents whose records are in this file, in the order of their beginnings
	tooMany bool            // there are more
	seen    map[uint64]bool // what identifies the records of a sub-agent in the file of another session; nil for any other
}

func newIndex(a *Agent, f format.File) *index {
	return &index{Reader: jsonlines.NewReader(f, a.skips()), path: f.Path, agent: a, answer: -1, about: -1,
		tree: tree{last: -1, contexts: []string{""}}, named: newNamed(), growth: growth{unanswered: map[string]bool{}}}
}

// skips returns a function that reports whether the index does not need the value of a member.
func (a *Agent) skips() func(name string, kind jsonvalue.Kind) bool {
	skips := map[string]bool{} // whether it needs no value of any kind
	for _, name := range a.SkipsText {
		skips[name] = false
	}
	for _, name := range a.Skips {
		skips[name] = true
	}
	return func(name string, kind jsonvalue.Kind) bool {
		all, known := skips[name]
		return all || known && kind == jsonvalue.String
	}
}

func (x *index) read() error {
	if x.agent.Array != "" && x.before == nil {
		var err error
		if x.one, err = x.IsDocument(x.agent.Array); err != nil {
			return err
		}
		if x.one {
			return x.Document(x.agent.Array, x.record)
		}
	}
	return x.Each(x.record)
}

// maxPrompt is the maximum length of the stored beginning of a prompt, in bytes.
const maxPrompt = 300

// record adds one record.
func (x *index) record(v jsonvalue.Value, raw []byte, at jsonlines.Place) error {
	return x.within(v, raw, at, 0)
}

// within adds a record. The offsets of its values count from the beginning of an outer record; raw
// is at start in that.
func (x *index) within(v jsonvalue.Value, raw []byte, at jsonlines.Place, start int) error {
	if len(x.refs) > math.MaxInt32-2 {
		return &syntax.Error{Path: x.path, Line: x.Lines, Column: 1, Msg: "is one of too many records", Err: domarkx.ErrInvalid}
	}
	n := x.agent.Note(v, &x.session)
	if n.Sub != "" {
		return x.sub(n, raw, at, start)
	}
	if n.Clear || n.Items != nil {
		return x.items(n, raw, at, start)
	}
	isNothing := n.Kind == Other && n.Drop == 0 && n.BackTo == "" && len(n.Results) == 0
	if n.Once != "" && !isNothing {
		digest := maphash.Bytes(x.seed, raw)
		if x.once[digest] {
			return nil
		}
		x.once[digest] = true
	}
	if n.ID != "" {
		x.follow(n, at)
		defer func() { x.behind[maphash.String(x.seed, x.leaf)] = x.last }()
	}
	if isNothing {
		return nil
	}
	if n.Drop > 0 || n.BackTo != "" {
		x.back(n)
		return nil
	}
	open := x.results(n, at)
	switch n.Kind {
	case Prompt:
		x.prompt(n, at)
	case Answer:
		x.answered(n, at)
	case About:
		if n.Group != "" {
			x.aheadOf(n, at)
		} else if x.about >= 0 {
			x.join(x.about, at)
		} else if x.before != nil && x.before.About && len(x.messages) == 0 {
			x.again = true
		}
		if n.Group == "" {
			x.close()
		}
	default:
		if open > 0 { // some results have no call
			x.begin(n, Answer, at)
			x.about = -1
		}
	}
	return nil
}

// follow moves the end of the conversation to the record that a record follows. What was the end
// may become a branch.
func (x *index) follow(n Note, at jsonlines.Place) {
	k := x.last
	if n.Parent != x.leaf {
		before, ok := x.behind[maphash.String(x.seed, n.Parent)]
		switch {
		case ok:
			k = before
		case x.before != nil:
			x.again = true
		case n.Parent == "":
			k = -1
		default: // that record could not be read, or was never written
			if len(x.Reports()) == 0 {
				k = -1
			}
			x.Report(int(at.Line), fmt.Sprintf("follows the record %.40q, which is missing", n.Parent))
		}
	}
	if k != x.last {
		x.ends, x.last = append(x.ends, end{message: x.last, id: x.leaf}), k
		x.about = -1
		x.close()
	}
	x.leaf = strings.Clone(n.ID)
}

// results adds a record to the messages whose calls have their results in the record. It returns
// the number of results without a call.
func (x *index) results(n Note, at jsonlines.Place) (without int) {
	for _, id := range n.Results {
		call := maphash.String(x.seed, id)
		k, ok := x.calls[call]
		if !ok {
			if x.before != nil && hasKey(x.before.Calls, "call", id) {
				x.again = true
				continue
			}
			without++
			continue
		}
		if k < 0 { // an earlier version of the record has been added
			continue
		}
		if delete(x.calls, call); n.Latest {
			x.calls[call] = -1
		}
		delete(x.unanswered, id)
		x.join(k, at)
	}
	if len(n.Results) > 0 {
		x.close()
	}
	return without
}

func (x *index) prompt(n Note, at jsonlines.Place) {
	text := x.short(n.Text)
	if x.session.Prompt == "" && !n.Queued {
		x.session.Prompt = strings.Clone(format.PromptTitle(n.Text))
	}
	if k, ok := x.queued[text]; ok && text != "" {
		x.messages[k].dead = true
		delete(x.queued, text)
	} else if text != "" && x.known("queued", text) {
		x.again = true
	}
	if n.After != "" {
		key := maphash.String(x.seed, n.After)
		if k, ok := x.after[key]; ok && x.onPath(k) {
			x.ends = append(x.ends, end{message: x.last})
			x.last = x.messages[k].above
		} else if x.known("after", n.After) {
			x.again = true
		}
		defer func() { x.after[key] = int32(len(x.messages)) - 1 }()
		x.note("after", n.After)
	}
	if x.grouped(n, at) {
		return
	}
	k := x.begin(n, Prompt, at)
	x.about = -1
	x.close()
	if n.Queued {
		x.messages[k].queued = true
		x.queued[text] = k
		x.note("queued", text)
	}
}

func (x *index) answered(n Note, at jsonlines.Place) {
	k := x.answer
	if n.Group != "" || n.Alone || k < 0 {
		if x.grouped(n, at) {
			return
		}
		if n.Group == "" && !n.Alone && x.before != nil && x.before.Joins && !x.closed {
			x.again = true
		}
		k = x.begin(n, Answer, at)
		if p, ok := x.ahead[maphash.String(x.seed, n.Group)]; ok && n.Group != "" {
			x.join(k, p)
		}
		x.close()
		if n.Group == "" && !n.Alone {
			x.answer = k
		}
	} else {
		x.join(k, at)
	}
	x.about = k
	x.called(k, n.Calls)
}

// grouped adds a record to the message of its group. It returns false if the group has no message
// yet.
func (x *index) grouped(n Note, at jsonlines.Place) bool {
	if n.Group == "" {
		return false
	}
	key := maphash.String(x.seed, n.Group)
	k, ok := x.groups[key]
	switch {
	case !ok:
		if x.known("group", n.Group) {
			x.again = true
		}
		x.note("group", n.Group)
		x.groups[key] = int32(len(x.messages))
		return false
	case n.Latest:
		x.refs = append(x.refs, ref{at, -1})
		x.messages[k].head = int32(len(x.refs)) - 1
		x.messages[k].tail = x.messages[k].head
	default:
		x.join(k, at)
	}
	x.called(k, n.Calls)
	if n.Kind == Answer {
		x.about = k
	}
	return true
}

// aheadOf adds a record of kind About to the message of its group, or stores it until that message
// begins.
func (x *index) aheadOf(n Note, at jsonlines.Place) {
	key := maphash.String(x.seed, n.Group)
	if k, ok := x.groups[key]; ok {
		x.join(k, at)
		return
	}
	x.again = x.again || x.known("group", n.Group)
	x.note("group", n.Group)
	x.ahead[key] = at
}

// items adds the records nested in a record. The parameters are those of within.
func (x *index) items(n Note, raw []byte, at jsonlines.Place, start int) error {
	if n.Clear {
		x.again = x.again || x.before != nil
		x.ends = append(x.ends, end{message: x.last, groups: x.groups})
		x.last, x.groups, x.about = -1, map[uint64]int32{}, -1
		x.close()
	}
	if len(n.Items) > 0 && at.Size == 0 { // the place of the items in the file is unknown
		x.Report(0, "has records outside of its array, which are kept in the original")
		return nil
	}
	return x.inner(n.Items, raw, at, start)
}

// inner adds records that are nested in a record. The parameters are those of within.
func (x *index) inner(items []jsonvalue.Value, raw []byte, at jsonlines.Place, start int) error {
	for _, item := range items {
		size, from := 0, item.Offset()-start
		if item.Kind() == jsonvalue.Object && !at.Escaped {
			size = jsonlines.ObjectEnd(raw[from:])
		}
		if size == 0 {
			x.Lost(int(at.Line), at.Start, at.Start+int64(at.Size), nil)
			continue
		}
		inner := jsonlines.Place{Start: at.Start + int64(from), Size: uint32(size), Line: at.Line}
		if err := x.within(item, raw[from:from+size], inner, item.Offset()); err != nil {
			return err
		}
	}
	return nil
}

// called records the calls that a message makes.
func (x *index) called(k int32, ids []string) {
	for _, id := range ids {
		x.calls[maphash.String(x.seed, id)] = k
		x.unanswered[strings.Clone(id)] = true
	}
}

// begin adds a message at the end of the conversation.
func (x *index) begin(n Note, role Kind, at jsonlines.Place) int32 {
	if x.session.Created == "" {
		x.session.Created = strings.Clone(n.Time)
	}
	if x.session.Context != x.contexts[len(x.contexts)-1] {
		x.contexts = append(x.contexts, strings.Clone(x.session.Context))
	}
	x.refs = append(x.refs, ref{at, -1})
	r := int32(len(x.refs)) - 1
	x.messages = append(x.messages, said{head: r, tail: r, above: x.last, context: int32(len(x.contexts)) - 1, role: role})
	x.last = int32(len(x.messages)) - 1
	return x.last
}

// back removes messages from the end of the conversation. They become a branch.
func (x *index) back(n Note) {
	x.again = x.again || x.before != nil
	k := x.last
	if n.BackTo != "" {
		to, ok := x.groups[maphash.String(x.seed, n.BackTo)]
		if ok && x.onPath(to) {
			k = x.messages[to].above
		} else {
			k = -1
		}
	}
	for drop := n.Drop; drop > 0 && k >= 0; k = x.messages[k].above {
		if x.messages[k].role == Prompt && !x.messages[k].dead {
			drop--
		}
	}
	if k != x.last {
		x.ends, x.last = append(x.ends, end{message: x.last}), k
	}
	x.about = -1
	x.close()
}

// close ends the message to which answers without a Group are added.
func (x *index) close() { x.answer, x.closed = -1, true }

// short returns the beginning of a prompt, at most maxPrompt bytes.
func (x *index) short(text string) string {
	if len(text) > maxPrompt {
		text = strings.ToValidUTF8(text[:maxPrompt], "")
	}
	return strings.Clone(text)
}
