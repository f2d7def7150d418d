package pi

import (
	"slices"

	"github.com/domarkx/domarkx"
)

// A builder makes the messages of a conversation of its entries, in order.
type builder struct {
	drafts  []*draft
	pending []domarkx.Value // entries that are no messages, for the next one
	calls   map[string]call // of the last assistant's message, without a result
	order   []string
	// answered says that there was an assistant's message.
	answered bool
	name     string // the session's, as the last session_info says
}

func newBuilder() *builder { return &builder{calls: map[string]call{}} }

// A call is one that waits for its result.
type call struct {
	draft *draft
	at    int // its piece
}

// A draft is a message that may still get results.
type draft struct {
	role    domarkx.Role
	id      string
	before  []domarkx.Value
	entry   domarkx.Value
	results []domarkx.Value
	pieces  []piece
}

// node takes the next entry.
func (b *builder) node(n node) {
	if !b.entry(n) {
		b.pending = append(b.pending, n.value)
	}
	b.pending = append(b.pending, n.after...)
}

// entry makes a message of an entry, or puts it into one; false when it is none.
func (b *builder) entry(n node) bool {
	v := n.value
	switch text(v, keyType) {
	case typeMessage:
		message, ok := v.Get(keyMessage)
		return ok && b.message(n.id, v, message)
	case typeCompaction, typeBranchSummary:
		return b.said(n.id, v, v, keySummary, func(v domarkx.Value) domarkx.Value { return v })
	case typeCustomMessage:
		return b.said(n.id, v, v, keyContent, func(v domarkx.Value) domarkx.Value { return v })
	case typeSessionInfo:
		b.name = text(v, keyName)
	}
	return false
}

// said makes a message of what the user, or pi in the user's place, said: the member of
// that name in v. within returns the entry with a changed v.
func (b *builder) said(id string, entry, v domarkx.Value, name string, within func(domarkx.Value) domarkx.Value) bool {
	content, ok := v.Get(name)
	if !ok {
		return false
	}
	d := &draft{role: domarkx.User, id: id}
	switch {
	case content.Kind() == domarkx.String:
		d.pieces = []piece{{text: content.Text()}}
		v = v.With(name, str(""))
	case content.Kind() == domarkx.Array && name == keyContent:
		items := slices.Clone(content.Items())
		for i, item := range items {
			d.part(item, &items[i])
		}
		v = v.With(name, domarkx.ArrayValue(items...))
	default:
		return false
	}
	d.entry = within(v)
	b.add(d)
	return true
}

func (b *builder) add(d *draft) {
	d.before, b.pending = b.pending, nil
	d.entry = d.entry.Without(keyParentID)
	b.drafts = append(b.drafts, d)
}

func (b *builder) message(id string, entry, message domarkx.Value) bool {
	within := func(m domarkx.Value) domarkx.Value { return entry.With(keyMessage, m) }
	switch text(message, keyRole) {
	case roleUser, roleCustom, roleHook:
		return b.said(id, entry, message, keyContent, within)
	case roleBranch, roleCompaction:
		return b.said(id, entry, message, keySummary, within)
	case roleAssistant:
		return b.assistant(id, message, within)
	case roleToolResult:
		return b.result(id, message, within)
	case roleBash:
		command, ok := message.Get(keyCommand)
		output, isText := message.Get(keyOutput)
		if !ok || !isText || command.Kind() != domarkx.String || output.Kind() != domarkx.String {
			return false
		}
		b.add(&draft{role: domarkx.User, id: id, entry: within(message.With(keyCommand, str("")).With(keyOutput, str(""))),
			pieces: []piece{{block: code("bash", command.Text()), special: true}, {block: code("text", output.Text()), special: true}}})
		return true
	}
	return false
}

func (b *builder) assistant(id string, message domarkx.Value, within func(domarkx.Value) domarkx.Value) bool {
	content, ok := message.Get(keyContent)
	d := &draft{role: domarkx.Assistant, id: id}
	switch {
	case ok && content.Kind() == domarkx.String:
		d.pieces = []piece{{text: content.Text()}}
		message = message.With(keyContent, str(""))
	case ok && content.Kind() == domarkx.Array:
		items := slices.Clone(content.Items())
		for i, item := range items {
			d.part(item, &items[i])
		}
		message = message.With(keyContent, domarkx.ArrayValue(items...))
	default:
		return false
	}
	d.entry = within(message)
	b.add(d)
	b.answered = true
	clear(b.calls)
	b.order = b.order[:0]
	for at, p := range d.pieces {
		if p.call != "" {
			b.calls[p.call] = call{d, at}
			b.order = append(b.order, p.call)
		}
	}
	return true
}

// result puts the result of a call behind the call. One of which there is no call is a
// message of its own.
func (b *builder) result(id string, message domarkx.Value, within func(domarkx.Value) domarkx.Value) bool {
	content, ok := message.Get(keyContent)
	if !ok || content.Kind() != domarkx.Array && content.Kind() != domarkx.String {
		return false
	}
	block, pictures, bare := resultOf(message, content)
	entry := within(message.With(keyContent, bare)).Without(keyParentID)
	of, ok := b.calls[text(message, keyToolCallID)]
	if !ok {
		b.add(&draft{role: domarkx.Assistant, id: id, entry: entry, pieces: []piece{{block: block, special: true, pictures: pictures}}})
		return true
	}
	delete(b.calls, text(message, keyToolCallID))
	if len(b.pending) > 0 {
		entry = entry.With(keyBefore, domarkx.ArrayValue(b.pending...))
		b.pending = nil
	}
	p := &of.draft.pieces[of.at]
	p.result, p.hasResult, p.pictures = block, true, pictures
	of.draft.results = append(of.draft.results, entry)
	return true
}

// openCalls returns the calls that a result may still come for.
func (b *builder) openCalls() []string {
	var open []string
	for _, id := range b.order {
		if _, ok := b.calls[id]; ok {
			open = append(open, id)
		}
	}
	return open
}

// finish returns the messages.
func (b *builder) finish() []domarkx.WrittenMessage {
	messages := make([]domarkx.WrittenMessage, len(b.drafts))
	for i, d := range b.drafts {
		messages[i] = domarkx.WrittenMessage{Message: d.finish(), Origin: "pi " + d.id}
	}
	return messages
}

// about returns the user_metadata of a session: its header, and what follows the last
// message.
func (b *builder) about(header domarkx.Value, tail string) *domarkx.Value {
	if b.name != "" {
		header = header.With(keySessionName, str(b.name))
	} else {
		header = header.Without(keySessionName)
	}
	after := b.pending
	if tail != "" {
		after = append(slices.Clip(after), str(tail))
	}
	if len(after) > 0 {
		header = header.With(keyAfter, domarkx.ArrayValue(after...))
	}
	return &header
}
