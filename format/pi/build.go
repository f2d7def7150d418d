package pi

import (
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
)

// A kind is the kind of an entry in a conversation.
type kind uint8

const (
	noMessage      kind = iota // kept for the next message
	saidEntry                  // text of the user, or of pi on the user's behalf
	bashEntry                  // a shell execution of the user's
	assistantEntry             // text of the assistant
	resultEntry                // the result of a call
)

// kindOf returns the kind of an entry. An entry without anything to show is not a message.
func kindOf(v domarkx.Value) kind {
	switch transcript.Text(v, keyType) {
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
	switch transcript.Text(message, keyRole) {
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

// saidIn returns saidEntry if the member with that name holds content, and noMessage otherwise.
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
		if id := transcript.Text(item, keyID); id != "" && isCall(item) {
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

// newDraft begins a message with an entry of that kind. A result entry begins one only if it has no
// call.
func newDraft(kind kind, v domarkx.Value) *draft {
	d := &draft{role: domarkx.User, id: transcript.Text(v, keyID)}
	message, inMessage := v, transcript.Text(v, keyType) == typeMessage
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
		d.pieces = []piece{{block: transcript.Code("bash", transcript.Text(message, keyCommand)), special: true}, {block: transcript.Code("text", transcript.Text(message, keyOutput)), special: true}}
		message = message.With(keyCommand, transcript.Str("")).With(keyOutput, transcript.Str(""))
	default:
		name := keyContent
		if isOne(transcript.Text(message, keyRole), roleBranch, roleCompaction) && inMessage || isOne(transcript.Text(v, keyType), typeCompaction, typeBranchSummary) {
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

// said adds the content of the member with that name as pieces, and returns v without that content.
func (d *draft) said(v domarkx.Value, name string) domarkx.Value {
	content, _ := v.Get(name)
	if content.Kind() == domarkx.String {
		d.pieces = []piece{{text: content.Text()}}
		return v.With(name, transcript.Str(""))
	}
	items := slices.Clone(content.Items())
	for i, item := range items {
		d.part(item, &items[i])
	}
	return v.With(name, domarkx.ArrayValue(items...))
}

// result adds the entry of a result after its call, the last call with its id; it returns false if
// there is none. before is what preceded the entry.
func (d *draft) result(v domarkx.Value, before []domarkx.Value) bool {
	message, _ := v.Get(keyMessage)
	of := transcript.Text(message, keyToolCallID)
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

// callOf returns the index of the last call with that id, or -1.
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
