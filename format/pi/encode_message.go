package pi

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
)

// message writes a message: as its original entry with the current content, or as a new entry.
func (e *encoder) message(i int, m domarkx.WrittenMessage) {
	metadata := domarkx.ObjectValue()
	if m.Metadata != nil {
		metadata = *m.Metadata
	}
	entry, _ := metadata.Get(keyEntry)
	e.entries(domarkx.ArrayValue(e.removed[keyOf(transcript.Text(entry, keyID))]...))
	before, _ := metadata.Get(keyBefore)
	e.entries(before)
	entry = migrated(entry)
	fits := fits(entry, m.Role)
	for _, member := range metadata.Members() {
		known := isOne(member.Name, keyBefore, keyResults, keyRuns, domarkx.MetadataGlue)
		if !known && (member.Name != keyEntry || !fits) {
			e.lose(i, "message_metadata.%s", member.Name)
		}
	}
	for _, extra := range m.Extra {
		e.lose(i, "%s", extra.Name)
	}
	if slices.ContainsFunc(m.Content, func(b domarkx.Block) bool { return len(b.Extra) > 0 }) {
		e.lose(i, "members of its content blocks")
	}
	if !fits {
		entry = e.fresh(m, entry)
	}
	w := writing{encoder: e, i: i, m: m, metadata: metadata, entry: entry}
	w.results, _ = metadata.Get(keyResults)
	w.write()
}

// fits reports whether an entry can be the original of a message with that role.
func fits(entry domarkx.Value, role domarkx.Role) bool {
	message, _ := entry.Get(keyMessage)
	switch transcript.Text(entry, keyType) {
	case typeMessage:
		if role == domarkx.Assistant {
			return isOne(transcript.Text(message, keyRole), roleAssistant, roleToolResult)
		}
		return isOne(transcript.Text(message, keyRole), roleUser, roleCustom, roleBash, roleBranch, roleCompaction)
	case typeCompaction, typeBranchSummary, typeCustomMessage:
		return role == domarkx.User
	}
	return false
}

// fresh returns an entry for a message without an original. An assistant's message gets the model
// of the last one.
func (e *encoder) fresh(m domarkx.WrittenMessage, old domarkx.Value) domarkx.Value {
	at, millis := e.times(m, old)
	message := transcript.Object(keyRole, transcript.Str(roleUser), keyContent, domarkx.ArrayValue(), keyTimestamp, millis)
	if m.Role == domarkx.Assistant {
		model := e.model
		if model.Kind() != domarkx.Object {
			model = transcript.Object("api", transcript.Str("unknown"), "provider", transcript.Str("unknown"), "model", transcript.Str("unknown"))
		}
		zero := transcript.Num(0)
		message = transcript.Object(keyRole, transcript.Str(roleAssistant), keyContent, domarkx.ArrayValue(),
			"api", transcript.Str(transcript.Text(model, "api")), "provider", transcript.Str(transcript.Text(model, "provider")), "model", transcript.Str(transcript.Text(model, "model")),
			"usage", transcript.Object("input", zero, "output", zero, "cacheRead", zero, "cacheWrite", zero, "totalTokens", zero,
				"cost", transcript.Object("input", zero, "output", zero, "cacheRead", zero, "cacheWrite", zero, "total", zero)),
			"stopReason", transcript.Str("stop"), keyTimestamp, millis)
	}
	entry := transcript.Object(keyType, transcript.Str(typeMessage), keyTimestamp, transcript.Str(at), keyMessage, message)
	if id := transcript.Text(old, keyID); id != "" {
		entry = entry.With(keyID, transcript.Str(id))
	}
	return entry
}

// A writing is a message that is being written.
type writing struct {
	*encoder
	i         int
	m         domarkx.WrittenMessage
	metadata  domarkx.Value
	entry     domarkx.Value
	results   domarkx.Value
	resultsOf map[string]domarkx.Value // by the ids of their calls, once they are wanted
	outcomes  []domarkx.Value          // entries of results, to be written behind it
	calls     int
}

func (w *writing) seed() string {
	if w.m.ID.IsZero() {
		return fmt.Sprintf("message %d", w.i)
	}
	return w.m.ID.String()
}

func (w *writing) write() {
	message, _ := w.entry.Get(keyMessage)
	switch {
	case transcript.Text(w.entry, keyType) == typeCompaction || transcript.Text(w.entry, keyType) == typeBranchSummary:
		w.entry = w.entry.With(keySummary, transcript.Str(w.whole()))
	case transcript.Text(w.entry, keyType) == typeCustomMessage:
		w.entry = w.entry.With(keyContent, w.userContent(w.entry))
	case isOne(transcript.Text(message, keyRole), roleBranch, roleCompaction):
		w.entry = w.entry.With(keyMessage, message.With(keySummary, transcript.Str(w.whole())))
	case transcript.Text(message, keyRole) == roleBash:
		w.bash(message)
	case transcript.Text(message, keyRole) == roleToolResult:
		w.result(message)
	case transcript.Text(message, keyRole) == roleAssistant:
		w.assistant(message)
	default:
		w.entry = w.entry.With(keyMessage, message.With(keyContent, w.userContent(message)))
	}
	w.encoder.entry(w.entry, w.seed())
	for k, outcome := range w.outcomes {
		before, _ := outcome.Get(keyBefore)
		w.entries(before)
		w.encoder.entry(outcome.Without(keyBefore), fmt.Sprintf("%s result %d", w.seed(), k))
	}
}

// bash sets the command and output of a shell execution. It turns the entry into a user's message
// if the content does not fit.
func (w *writing) bash(message domarkx.Value) {
	if c := w.m.Content; len(c) == 2 && transcript.IsCode(c[0], "bash") && transcript.IsCode(c[1], "text") {
		w.entry = w.entry.With(keyMessage, message.With(keyCommand, transcript.Str(c[0].Text)).With(keyOutput, transcript.Str(c[1].Text)))
		return
	}
	w.lose(w.i, "that it was a shell execution")
	w.entry = w.fresh(w.m, w.entry)
	message, _ = w.entry.Get(keyMessage)
	w.entry = w.entry.With(keyMessage, message.With(keyContent, w.userContent(message)))
}

// userContent returns a user message's content: a string if it was one.
func (w *writing) userContent(v domarkx.Value) domarkx.Value {
	old, _ := v.Get(keyContent)
	if old.Kind() == domarkx.String {
		return transcript.Str(w.whole())
	}
	d := division{runs: [][]domarkx.Block{w.m.Content}}
	items, _ := w.content(d, old)
	return domarkx.ArrayValue(items...)
}

// assistant sets the parts of an assistant's message and the results of its calls.
func (w *writing) assistant(message domarkx.Value) {
	old, _ := message.Get(keyContent)
	d := divide(w.m.Content)
	items, results := w.content(d, old)
	if old.Kind() == domarkx.String && len(d.specials) == 0 {
		message = message.With(keyContent, transcript.Str(w.whole()))
	} else {
		message = message.With(keyContent, domarkx.ArrayValue(items...))
	}
	if stop := transcript.Text(message, "stopReason"); isOne(stop, "stop", "toolUse") {
		stop = "stop"
		if n := len(d.specials); n > 0 && d.specials[n-1].call != "" {
			stop = "toolUse"
		}
		if !transcript.Has(w.metadata, keyEntry) {
			message = message.With("stopReason", transcript.Str(stop))
		}
	}
	w.model = message
	w.entry = w.entry.With(keyMessage, message)
	w.outcomes = results
}

// result sets the content of a result without a call.
func (w *writing) result(message domarkx.Value) {
	c := w.m.Content
	if len(c) == 0 || !transcript.IsCode(c[0], "tool-result") {
		w.lose(w.i, "that it was the result of a tool")
		w.entry = w.fresh(w.m, w.entry)
		message, _ = w.entry.Get(keyMessage)
		w.assistant(message)
		return
	}
	d := division{specials: []special{{block: c[0]}}, runs: [][]domarkx.Block{nil, c[1:]}}
	old, _ := message.Get(keyContent)
	parts := w.parts(d, 1, countPictures(old), nil, true)
	w.loseOfResult(c[0].Text)
	message = fill(message, c[0].Text, parts.pictures)
	if len(parts.items) > 0 {
		w.lose(w.i, "the text after the result")
	}
	w.entry = w.entry.With(keyMessage, message)
}

// callID generates the id of a call without one.
func (w *writing) callID() string {
	w.calls++
	return fmt.Sprintf("call_%x", sha256.Sum256(fmt.Appendf(nil, "pi call %s %d", w.seed(), w.calls)))[:len("call_")+16]
}
