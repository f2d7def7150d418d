package pi

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
)

// A division is a message's content split at the special blocks, which are parts of their own:
// runs[k] precedes specials[k], and the last run follows all of them.
type division struct {
	specials []special
	runs     [][]domarkx.Block
}

type special struct {
	block  domarkx.Block
	call   string // the id of a call; a blank if it has none
	asked  domarkx.Value
	result *domarkx.Block
}

// divide divides the content of an assistant's message.
func divide(content []domarkx.Block) division {
	d := division{runs: [][]domarkx.Block{nil}}
	for i := 0; i < len(content); i++ {
		b := content[i]
		s := special{block: b}
		if transcript.IsCode(b, "tool-call") {
			if v, err := domarkx.ParseValue([]byte(b.Text)); err == nil && transcript.Text(v, "tool") != "" {
				s.asked, s.call = v, " "
				if id := transcript.Text(v, keyID); id != "" {
					s.call = id
				}
			}
		}
		if s.call == "" && !transcript.IsCode(b, "thought") {
			last := len(d.runs) - 1
			d.runs[last] = append(d.runs[last], b)
			continue
		}
		if s.call != "" && i+1 < len(content) && transcript.IsCode(content[i+1], "tool-result") {
			i++
			s.result = &content[i]
		}
		d.specials, d.runs = append(d.specials, s), append(d.runs, nil)
	}
	return d
}

// isStripped reports whether an item of an entry's content is shown in the message, as opposed to
// only stored.
func isStripped(item domarkx.Value) bool {
	said, ok := item.Get(partMember(item))
	switch transcript.Text(item, keyType) {
	case partToolCall:
		return said.Kind() == domarkx.Object && transcript.Text(item, keyName) != ""
	case partText, partImage, partThinking:
		return ok && said.Kind() == domarkx.String && said.Text() == ""
	}
	return false
}

// matches divides the items of a message's original content like its blocks, and reports whether
// this is possible: only text has changed.
func (d division) matches(items []domarkx.Value) ([]domarkx.Value, [][]domarkx.Value, bool) {
	var specials []domarkx.Value
	runs := [][]domarkx.Value{nil}
	for _, item := range items {
		kind := transcript.Text(item, keyType)
		if !isStripped(item) || kind != partThinking && kind != partToolCall {
			runs[len(runs)-1] = append(runs[len(runs)-1], item)
			continue
		}
		if n := len(specials); n == len(d.specials) || (kind == partThinking) != (d.specials[n].call == "") ||
			kind == partToolCall && strings.TrimSpace(d.specials[n].call) != transcript.Text(item, keyID) {
			return nil, nil, false
		}
		specials, runs = append(specials, item), append(runs, nil)
	}
	return specials, runs, len(specials) == len(d.specials)
}

// named returns which special blocks are calls of an id, and which are thoughts of a digest.
func (d division) named() (calls, thoughts map[string][]int) {
	calls, thoughts = map[string][]int{}, map[string][]int{}
	for k, s := range d.specials {
		calls[s.call] = append(calls[s.call], k)
		if s.call == "" {
			sum := digest(s.block.Text)
			thoughts[sum] = append(thoughts[sum], k)
		}
	}
	return calls, thoughts
}

// content returns the parts of a message, and the entries for the results of its calls. The
// original parts supply what blocks do not represent.
func (w *writing) content(d division, old domarkx.Value) (items, results []domarkx.Value) {
	were, wereRuns, same := d.matches(old.Items())
	if !same {
		were, wereRuns = make([]domarkx.Value, len(d.specials)), make([][]domarkx.Value, len(d.runs))
		calls, thoughts := d.named()
		for _, item := range old.Items() {
			if !isStripped(item) {
				w.lose(w.i, "a part of the type %q", transcript.Text(item, keyType))
			}
			var same []int
			switch transcript.Text(item, keyType) {
			case partToolCall:
				same = calls[transcript.Text(item, keyID)]
			case partThinking:
				own, _ := item.Get(keyOwn)
				same = thoughts[transcript.Text(own, "sha256")]
			}
			for _, k := range same {
				were[k] = item
			}
		}
	}
	var pending domarkx.Value // the result of the call before the run
	for k := range d.runs {
		pictures := 0
		if message, ok := pending.Get(keyMessage); ok {
			content, _ := message.Get(keyContent)
			pictures = countPictures(content)
		}
		parts := w.parts(d, k, pictures, wereRuns[k], pending.Kind() == domarkx.Object)
		if pending.Kind() == domarkx.Object {
			message, _ := pending.Get(keyMessage)
			w.loseOfResult(d.specials[k-1].result.Text)
			filled := fill(message, d.specials[k-1].result.Text, parts.pictures)
			results = append(results, pending.With(keyMessage, filled))
		}
		pending = domarkx.Value{}
		items = append(items, parts.items...)
		if k == len(d.specials) {
			break
		}
		s := d.specials[k]
		if s.call == "" {
			items = append(items, w.thinking(were[k], s.block.Text))
			continue
		}
		item := w.call(were[k], s)
		items = append(items, item)
		if s.result != nil && !isNoResult(s.result.Text) {
			pending = w.resultEntry(item)
		}
	}
	return items, results
}

// thinking returns a thought; its signature holds for the very same text.
func (w *writing) thinking(item domarkx.Value, said string) domarkx.Value {
	if item.Kind() != domarkx.Object {
		return transcript.Object(keyType, transcript.Str(partThinking), keyThinking, transcript.Str(said))
	}
	if transcript.Has(item, keyOwn) && !signs(item, said) {
		w.lose(w.i, "the signature of a thought, which is of another text")
		item = item.Without(keySignature)
	}
	return item.Without(keyOwn).With(keyThinking, transcript.Str(said))
}

// signs reports whether a part is of a thought of that text.
func signs(item domarkx.Value, said string) bool {
	own, _ := item.Get(keyOwn)
	return transcript.Text(own, "sha256") == digest(said)
}

func (w *writing) call(item domarkx.Value, s special) domarkx.Value {
	arguments, _ := s.asked.Get(keyArguments)
	if arguments.Kind() != domarkx.Object {
		arguments = domarkx.ObjectValue()
	}
	if of := transcript.Text(s.asked, "resource"); of != resource && of != "" {
		w.lose(w.i, "the resource %q of a call", of)
	}
	id := transcript.Text(s.asked, keyID)
	if item.Kind() != domarkx.Object {
		if id == "" {
			id = w.callID()
		}
		item = transcript.Object(keyType, transcript.Str(partToolCall), keyID, transcript.Str(id), keyName, transcript.Str(""), keyArguments, arguments)
	}
	return item.With(keyID, transcript.Str(id)).With(keyName, transcript.Str(transcript.Text(s.asked, "tool"))).With(keyArguments, arguments)
}

// resultEntry returns the entry for a call's result, without its content.
func (w *writing) resultEntry(call domarkx.Value) domarkx.Value {
	if w.resultsOf == nil { // there may be very many
		w.resultsOf = map[string]domarkx.Value{}
		for _, entry := range slices.Backward(w.results.Items()) { // the first counts
			message, _ := entry.Get(keyMessage)
			w.resultsOf[transcript.Text(message, keyToolCallID)] = entry
		}
	}
	if entry, ok := w.resultsOf[transcript.Text(call, keyID)]; ok {
		message, _ := entry.Get(keyMessage)
		return entry.With(keyMessage, message.With(keyToolName, transcript.Str(transcript.Text(call, keyName))))
	}
	at, millis := w.times(w.m, w.entry)
	return transcript.Object(keyType, transcript.Str(typeMessage), keyTimestamp, transcript.Str(at), keyMessage, transcript.Object(keyRole, transcript.Str(roleToolResult),
		keyToolCallID, transcript.Str(transcript.Text(call, keyID)), keyToolName, transcript.Str(transcript.Text(call, keyName)), keyContent, domarkx.ArrayValue(),
		keyIsError, domarkx.BoolValue(false), keyTimestamp, millis))
}

func isNoResult(block string) bool {
	v, _ := domarkx.ParseValue([]byte(block))
	reason, _ := v.Get("error")
	return transcript.Text(reason, "code") == codeNoResult
}

func countPictures(content domarkx.Value) int {
	n := 0
	for _, item := range content.Items() {
		if transcript.Text(item, keyType) == partImage && isStripped(item) {
			n++
		}
	}
	return n
}

// fill sets the content of a toolResult message from a tool-result block and the images after it.
func fill(message domarkx.Value, block string, pictures []domarkx.Value) domarkx.Value {
	v, err := domarkx.ParseValue([]byte(block))
	if err != nil {
		v = transcript.Object("ok", domarkx.BoolValue(true), "result", transcript.Str(block))
	}
	ok, _ := v.Get("ok")
	result, _ := v.Get("result")
	said := result.Text()
	if result.Kind() != domarkx.String {
		said = transcript.Indented(result)
	}
	if reason, failed := v.Get("error"); failed {
		said = transcript.Text(reason, "message")
	}
	content, _ := message.Get(keyContent)
	items := slices.Clone(content.Items())
	texts := spread(items, said)
	kept := items[:0]
	for _, item := range items {
		switch {
		case transcript.Text(item, keyType) == partText && isStripped(item):
			if len(texts) == 0 {
				continue
			}
			item, texts = item.Without(keyOwn).With(keyText, transcript.Str(texts[0])), texts[1:]
		case transcript.Text(item, keyType) == partImage && isStripped(item):
			if len(pictures) == 0 {
				continue
			}
			said, _ := pictures[0].Get(keyData)
			kind, _ := pictures[0].Get(keyMimeType)
			item, pictures = item.With(keyData, said).With(keyMimeType, kind), pictures[1:]
		}
		kept = append(kept, item)
	}
	for _, t := range texts {
		if t != "" {
			kept = append(kept, transcript.Object(keyType, transcript.Str(partText), keyText, transcript.Str(t)))
		}
	}
	kept = append(kept, pictures...)
	return message.With(keyContent, domarkx.ArrayValue(kept...)).With(keyIsError, domarkx.BoolValue(!ok.IsTrue()))
}

// loseOfResult records what a result cannot represent of a tool-result block: it has only text, and
// a flag for errors.
func (w *writing) loseOfResult(block string) {
	v, err := domarkx.ParseValue([]byte(block))
	if err != nil {
		return
	}
	reason, failed := v.Get("error")
	for _, m := range v.Members() {
		switch {
		case m.Name == "result" && !failed && m.Value.Kind() != domarkx.String:
			w.lose(w.i, "that the result of a call is JSON, which becomes text")
		case m.Name == "result" && failed, !isOne(m.Name, "ok", "result", "error"):
			w.lose(w.i, "%s of the result of a call", m.Name)
		}
	}
	for _, m := range reason.Members() {
		if m.Name != "message" && (m.Name != "code" || m.Value.Text() != domarkx.CodeFailed) {
			w.lose(w.i, "error.%s of the result of a call", m.Name)
		}
	}
}
