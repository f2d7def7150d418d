package pi

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
)

// A piece is a part of a message's content: Markdown, or with special a block of its
// own and, of a call, its result.
type piece struct {
	text string

	special   bool
	block     domarkx.Block
	call      string // the id of a call
	hasResult bool
	result    domarkx.Block
	pictures  []string // of the result
}

// part adds a part of a message as a piece, and stores in slot what the piece does not represent.
func (d *draft) part(item domarkx.Value, slot *domarkx.Value) {
	said, isText := item.Get(partMember(item))
	switch kind := transcript.Text(item, keyType); {
	case !isText:
	case kind == partText && said.Kind() == domarkx.String:
		d.pieces = append(d.pieces, piece{text: said.Text()})
		*slot = item.With(keyText, transcript.Str(""))
	case kind == partImage:
		if picture, ok := pictureOf(item); ok {
			d.pieces = append(d.pieces, piece{text: picture})
			*slot = item.With(keyData, transcript.Str(""))
		}
	case kind == partThinking && said.Kind() == domarkx.String && d.role == domarkx.Assistant:
		d.pieces = append(d.pieces, piece{special: true, block: transcript.Code("thought", said.Text())})
		*slot = item.With(keyThinking, transcript.Str(""))
		if transcript.Has(item, keySignature) { // valid for this text only
			*slot = slot.With(keyOwn, transcript.Object("sha256", transcript.Str(digest(said.Text()))))
		}
	case isCall(item) && d.role == domarkx.Assistant:
		call := transcript.Indented(transcript.Object("resource", transcript.Str(resource), "tool", transcript.Str(transcript.Text(item, keyName)), keyArguments, said, keyID, transcript.Str(transcript.Text(item, keyID))))
		d.pieces = append(d.pieces, piece{special: true, block: transcript.Code("tool-call", call), call: transcript.Text(item, keyID)})
		*slot = item.With(keyArguments, domarkx.ObjectValue())
	}
}

// isCall reports whether a part is a call of a tool.
func isCall(item domarkx.Value) bool {
	arguments, _ := item.Get(keyArguments)
	return transcript.Text(item, keyType) == partToolCall && arguments.Kind() == domarkx.Object && transcript.Text(item, keyName) != ""
}

// partMember returns the name of the member with a part's content.
func partMember(item domarkx.Value) string {
	switch transcript.Text(item, keyType) {
	case partImage:
		return keyData
	case partThinking:
		return keyThinking
	case partToolCall:
		return keyArguments
	}
	return keyText
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

var (
	picture      = regexp.MustCompile(`^!\[image\]\(data:([A-Za-z0-9.+/-]*);base64,([A-Za-z0-9+/=_-]*)\)$`)
	pictureLines = regexp.MustCompile(`(?m)^!\[([^\]\n]*)\]\(data:([A-Za-z0-9.+/-]*);base64,([A-Za-z0-9+/=_-]*)\)$`)
)

// pictureOf returns the Markdown image for a part; false if the part could not be restored from it.
func pictureOf(item domarkx.Value) (string, bool) {
	kind, data := transcript.Text(item, keyMimeType), transcript.Text(item, keyData)
	if !transcript.Has(item, keyMimeType) || strings.Trim(kind, mimeCharacters) != "" || !isBase64(data) {
		return "", false
	}
	return "![image](data:" + kind + ";base64," + data + ")", true
}

const mimeCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.+/-"

func isBase64(s string) bool {
	for i := range len(s) {
		if !base64Characters[s[i]] {
			return false
		}
	}
	return true
}

// base64Characters contains the characters of all Base64 variants.
var base64Characters = func() (is [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-") {
		is[c] = true
	}
	return is
}()

// resultOf splits the entry of a result into the entry without its content, and the content as one
// piece: the tool-result block and images.
func resultOf(v domarkx.Value) (domarkx.Value, []piece) {
	message, _ := v.Get(keyMessage)
	content, _ := message.Get(keyContent)
	block, pictures, bare := shownResult(message, content)
	entry := withoutParent(v, message.With(keyContent, bare))
	return entry, []piece{{block: block, special: true, pictures: pictures}}
}

// withoutParent returns an entry with another message, and without its place in the tree.
func withoutParent(v, message domarkx.Value) domarkx.Value {
	members := make([]domarkx.Member, 0, len(v.Members()))
	set := false
	for _, m := range v.Members() {
		switch {
		case m.Name == keyParentID, m.Name == keyMessage && set:
			continue
		case m.Name == keyMessage:
			m.Value, set = message, true
		}
		members = append(members, m)
	}
	return domarkx.ObjectValue(members...)
}

// shownResult returns the tool-result block of a result, its pictures, and its content
// without what these say.
func shownResult(message, content domarkx.Value) (domarkx.Block, []string, domarkx.Value) {
	var said, pictures []string
	bare := transcript.Str("")
	if content.Kind() == domarkx.String {
		said = []string{content.Text()}
	} else {
		items := slices.Clone(content.Items())
		texts := 0
		for _, item := range items {
			if isText(item) {
				texts++
			}
		}
		for i, item := range items {
			if isText(item) {
				said = append(said, transcript.Text(item, keyText))
				items[i] = item.With(keyText, transcript.Str(""))
				if texts > 1 {
					items[i] = items[i].With(keyOwn, transcript.Object("length", transcript.Num(int64(len(transcript.Text(item, keyText))))))
				}
			} else if p, ok := pictureOf(item); ok && transcript.Text(item, keyType) == partImage {
				pictures = append(pictures, p)
				items[i] = item.With(keyData, transcript.Str(""))
			}
		}
		bare = domarkx.ArrayValue(items...)
	}
	all := strings.Join(said, "\n")
	if failed, _ := message.Get(keyIsError); failed.IsTrue() {
		return failure(domarkx.CodeFailed, all), pictures, bare
	}
	return transcript.Code("tool-result", succeeded(all)), pictures, bare
}

// succeeded returns the result of a call with that text.
func succeeded(said string) string {
	space := results.Get().(*[]byte)
	text := append((*space)[:0], "{\n  \"ok\": true,\n  \"result\": "...)
	text = append(transcript.Str(said).AppendJSON(text, "", ""), "\n}"...)
	result := string(text)
	if cap(text) <= maxKeptResult {
		*space = text
	}
	results.Put(space)
	return result
}

// results is memory to write results into, for how long they become shows only then.
var results = sync.Pool{New: func() any { return new([]byte) }}

const maxKeptResult = 1 << 20

func isText(item domarkx.Value) bool {
	v, ok := item.Get(keyText)
	return ok && transcript.Text(item, keyType) == partText && v.Kind() == domarkx.String
}

func failure(kind, message string) domarkx.Block {
	return transcript.Code("tool-result", transcript.Indented(transcript.Object("ok", domarkx.BoolValue(false), "error", transcript.Object("code", transcript.Str(kind), "message", transcript.Str(message)))))
}

// finish returns the message.
func (d *draft) finish() domarkx.Message {
	m := domarkx.Message{Role: d.role}
	metadata := domarkx.ObjectValue()
	if len(d.before) > 0 {
		metadata = metadata.With(keyBefore, domarkx.ArrayValue(d.before...))
	}
	metadata = metadata.With(keyEntry, d.entry)
	if len(d.results) > 0 {
		metadata = metadata.With(keyResults, domarkx.ArrayValue(d.results...))
	}
	var runs []transcript.Run
	var texts []string
	flush := func() {
		run := transcript.SplitText(texts, true)
		m.Content = append(m.Content, run.Blocks...)
		runs, texts = append(runs, run), nil
	}
	for _, p := range d.pieces {
		if !p.special {
			texts = append(texts, p.text)
			continue
		}
		flush()
		m.Content = append(m.Content, p.block)
		if p.hasResult {
			m.Content = append(m.Content, p.result)
		} else if p.block.Language == "tool-call" {
			m.Content = append(m.Content, failure(codeNoResult, "the transcript has no result of this call"))
		}
		texts = append(texts, p.pictures...)
	}
	flush()
	if note, ok := transcript.RunsNote(runs); ok {
		metadata = metadata.With(note.Name, note.Value)
	}
	m.Metadata = &metadata
	return m
}

// Members of message_metadata that record how runs of Markdown are divided.
const (
	keyRuns    = "runs"    // one per run: the text between special blocks; null if the run is one block
	keyLengths = "lengths" // of the parts that a run is made of, in bytes
)
