package pi

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/mdtext"
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
	switch kind := text(item, keyType); {
	case !isText:
	case kind == partText && said.Kind() == domarkx.String:
		d.pieces = append(d.pieces, piece{text: said.Text()})
		*slot = item.With(keyText, str(""))
	case kind == partImage:
		if picture, ok := pictureOf(item); ok {
			d.pieces = append(d.pieces, piece{text: picture})
			*slot = item.With(keyData, str(""))
		}
	case kind == partThinking && said.Kind() == domarkx.String && d.role == domarkx.Assistant:
		d.pieces = append(d.pieces, piece{special: true, block: code("thought", said.Text())})
		*slot = item.With(keyThinking, str(""))
		if has(item, keySignature) { // valid for this text only
			*slot = slot.With(keyOwn, object("sha256", str(digest(said.Text()))))
		}
	case isCall(item) && d.role == domarkx.Assistant:
		call := indented(object("resource", str(resource), "tool", str(text(item, keyName)), keyArguments, said, keyID, str(text(item, keyID))))
		d.pieces = append(d.pieces, piece{special: true, block: code("tool-call", call), call: text(item, keyID)})
		*slot = item.With(keyArguments, domarkx.ObjectValue())
	}
}

// isCall reports whether a part is a call of a tool.
func isCall(item domarkx.Value) bool {
	arguments, _ := item.Get(keyArguments)
	return text(item, keyType) == partToolCall && arguments.Kind() == domarkx.Object && text(item, keyName) != ""
}

// partMember returns the name of the member with a part's content.
func partMember(item domarkx.Value) string {
	switch text(item, keyType) {
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
	kind, data := text(item, keyMimeType), text(item, keyData)
	if !has(item, keyMimeType) || strings.Trim(kind, mimeCharacters) != "" || !isBase64(data) {
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
	bare := str("")
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
				said = append(said, text(item, keyText))
				items[i] = item.With(keyText, str(""))
				if texts > 1 {
					items[i] = items[i].With(keyOwn, object("length", number(len(text(item, keyText)))))
				}
			} else if p, ok := pictureOf(item); ok && text(item, keyType) == partImage {
				pictures = append(pictures, p)
				items[i] = item.With(keyData, str(""))
			}
		}
		bare = domarkx.ArrayValue(items...)
	}
	all := strings.Join(said, "\n")
	if failed, _ := message.Get(keyIsError); failed.IsTrue() {
		return failure(domarkx.CodeFailed, all), pictures, bare
	}
	return code("tool-result", succeeded(all)), pictures, bare
}

// succeeded returns the result of a call with that text.
func succeeded(said string) string {
	space := results.Get().(*[]byte)
	text := append((*space)[:0], "{\n  \"ok\": true,\n  \"result\": "...)
	text = append(str(said).AppendJSON(text, "", ""), "\n}"...)
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
	return ok && text(item, keyType) == partText && v.Kind() == domarkx.String
}

func failure(kind, message string) domarkx.Block {
	return code("tool-result", indented(object("ok", domarkx.BoolValue(false), "error", object("code", str(kind), "message", str(message)))))
}

func number(n int) domarkx.Value { return domarkx.NumberValue(strconv.Itoa(n)) }

// A run is the Markdown between two blocks that are special.
type run struct {
	texts []string
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
	var notes []domarkx.Value
	var between []string
	noted := false
	var r run
	flush := func() {
		blocks, note, g := r.split()
		m.Content = append(m.Content, blocks...)
		notes, between = append(notes, note), g
		noted = noted || note.Kind() != domarkx.Null
		r = run{}
	}
	for _, p := range d.pieces {
		if !p.special {
			r.texts = append(r.texts, p.text)
			continue
		}
		flush()
		m.Content = append(m.Content, p.block)
		if p.hasResult {
			m.Content = append(m.Content, p.result)
		} else if p.block.Language == "tool-call" {
			m.Content = append(m.Content, failure(codeNoResult, "the transcript has no result of this call"))
		}
		r.texts = append(r.texts, p.pictures...)
	}
	flush()
	switch {
	case len(notes) == 1 && len(notes[0].Members()) == 1 && between != nil:
		metadata = metadata.With(domarkx.MetadataGlue, mdtext.Value(between))
	case noted:
		metadata = metadata.With(keyRuns, domarkx.ArrayValue(notes...))
	}
	m.Metadata = &metadata
	return m
}

// Members of message_metadata that record how runs of Markdown are divided.
const (
	keyRuns    = "runs"    // one per run: the text between special blocks; null if the run is one block
	keyLengths = "lengths" // of the parts that a run is made of, in bytes
)

// split returns the blocks of a run, and a note for restoring the run from them; null if the run
// has at most one block.
func (r run) split() ([]domarkx.Block, domarkx.Value, []string) {
	if len(r.texts) == 0 {
		return nil, domarkx.Value{}, nil
	}
	whole := strings.Join(r.texts, "\n\n")
	blocks, between := mdtext.Split(whole)
	if slices.ContainsFunc(blocks, transcript.IsSpecial) { // it reads like one of ours, but is text
		blocks, between = []domarkx.Block{{Type: domarkx.TextBlock, Text: whole}}, nil
	}
	note := domarkx.Value{}
	if len(r.texts) > 1 {
		lengths := make([]domarkx.Value, len(r.texts))
		for i, t := range r.texts {
			lengths[i] = number(len(t))
		}
		note = note.With(keyLengths, domarkx.ArrayValue(lengths...))
	}
	if between != nil {
		note = note.With(domarkx.MetadataGlue, mdtext.Value(between))
	}
	return blocks, note, between
}
