package pi

import (
	"slices"

	"github.com/domarkx/domarkx"
)

// A kind says what an entry is in a conversation.
type kind uint8

const (
	noMessage      kind = iota // kept for the next message
	saidEntry                  // said by the user, or by pi in the user's place
	bashEntry                  // a shell execution of the user's
	assistantEntry             // said by the assistant
	resultEntry                // the result of a call
)

// kindOf returns what an entry is. One that says what it is but has nothing to show is no
// message.
func kindOf(v domarkx.Value) kind {
	switch text(v, keyType) {
	case typeMessage:
		message, _ := v.Get(keyMessage)
		return kindOfMessage(message)
	case typeCompaction, typeBranchSummary:
		return saidIn(v, keySummary)
	case typeCustomMessage:
		return saidIn(v, keyContent)
	}
	return noMessage
}

func kindOfMessage(message domarkx.Value) kind {
	switch text(message, keyRole) {
	case roleUser, roleCustom, roleHook:
		return saidIn(message, keyContent)
	case roleBranch, roleCompaction:
		return saidIn(message, keySummary)
	case roleAssistant:
		if saidIn(message, keyContent) != noMessage {
			return assistantEntry
		}
	case roleToolResult:
		if saidIn(message, keyContent) != noMessage {
			return resultEntry
		}
	case roleBash:
		command, ok := message.Get(keyCommand)
		output, isText := message.Get(keyOutput)
		if ok && isText && command.Kind() == domarkx.String && output.Kind() == domarkx.String {
			return bashEntry
		}
	}
	return noMessage
}

// saidIn looks for what was said in the member of that name.
func saidIn(v domarkx.Value, name string) kind {
	content, ok := v.Get(name)
	if ok && (content.Kind() == domarkx.String || content.Kind() == domarkx.Array && name == keyContent) {
		return saidEntry
	}
	return noMessage
}

// callsOf returns the ids of the calls in an assistant's entry.
func callsOf(v domarkx.Value) []string {
	message, _ := v.Get(keyMessage)
	content, _ := message.Get(keyContent)
	var ids []string
	for _, item := range content.Items() {
		if id := text(item, keyID); id != "" && isCall(item) {
			ids = append(ids, id)
		}
	}
	return ids
}

// A draft is a message that may still get results.
type draft struct {
	role    domarkx.Role
	id      string
	before  []domarkx.Value
	entry   domarkx.Value
	results []domarkx.Value
	pieces  []piece
	calls   map[string]int // see [draft.callOf]
}

// newDraft makes a message of an entry of that kind. A result is one of which there is no
// call.
func newDraft(kind kind, v domarkx.Value) *draft {
	d := &draft{role: domarkx.User, id: text(v, keyID)}
	message, inMessage := v, text(v, keyType) == typeMessage
	if inMessage {
		message, _ = v.Get(keyMessage)
	}
	switch kind {
	case assistantEntry:
		d.role = domarkx.Assistant
		message = d.said(message, keyContent)
	case resultEntry:
		d.role = domarkx.Assistant
		d.entry, d.pieces = resultOf(v)
		return d
	case bashEntry:
		d.pieces = []piece{{block: code("bash", text(message, keyCommand)), special: true}, {block: code("text", text(message, keyOutput)), special: true}}
		message = message.With(keyCommand, str("")).With(keyOutput, str(""))
	default:
		name := keyContent
		if isOne(text(message, keyRole), roleBranch, roleCompaction) && inMessage || isOne(text(v, keyType), typeCompaction, typeBranchSummary) {
			name = keySummary
		}
		message = d.said(message, name)
	}
	if inMessage {
		d.entry = withoutParent(v, message)
	} else {
		d.entry = message.Without(keyParentID)
	}
	return d
}

// said adds the pieces of what stands in the member of that name, and returns v without
// what they say.
func (d *draft) said(v domarkx.Value, name string) domarkx.Value {
	content, _ := v.Get(name)
	if content.Kind() == domarkx.String {
		d.pieces = []piece{{text: content.Text()}}
		return v.With(name, str(""))
	}
	items := slices.Clone(content.Items())
	for i, item := range items {
		d.part(item, &items[i])
	}
	return v.With(name, domarkx.ArrayValue(items...))
}

// result puts the entry of a result behind the call that it is of, the last one of its
// id; false when there is none. before is what stood before the entry.
func (d *draft) result(v domarkx.Value, before []domarkx.Value) bool {
	message, _ := v.Get(keyMessage)
	of := text(message, keyToolCallID)
	i := d.callOf(of)
	if i < 0 {
		return false
	}
	entry, made := resultOf(v)
	if len(before) > 0 {
		entry = entry.With(keyBefore, domarkx.ArrayValue(before...))
	}
	p := &d.pieces[i]
	p.result, p.hasResult, p.pictures = made[0].block, true, made[0].pictures
	d.results = append(d.results, entry)
	return true
}

// callOf returns which piece is the last call of that id; -1 when there is none.
func (d *draft) callOf(id string) int {
	const few = 64
	if id == "" {
		return -1
	}
	if len(d.pieces) <= few {
		for i := len(d.pieces) - 1; i >= 0; i-- {
			if d.pieces[i].call == id {
				return i
			}
		}
		return -1
	}
	if d.calls == nil {
		d.calls = map[string]int{}
		for i, p := range d.pieces {
			d.calls[p.call] = i
		}
	}
	if i, ok := d.calls[id]; ok {
		return i
	}
	return -1
}
