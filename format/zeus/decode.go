package zeus

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

const bom = "\ufeff"

// decode reads a snapshot. What Zeus's own loader would take, and a document that is
// cut off or goes on after its end, is read as far as it goes, with the damage in
// the document. Anything else is a [*domarkx.SyntaxError]; another schema_version,
// or an entry of an unknown kind, is [domarkx.ErrUnsupported] too.
func (c codec) decode(src format.Source) (*domarkx.Document, error) {
	data := bytes.TrimPrefix(src.Data, []byte(bom))
	r := reading{path: src.Path, data: data}
	v, broken := domarkx.ParsePartial(data)
	entries, listed := v.Get(keyEntries)
	listed = listed && entries.Kind() == domarkx.Array
	if broken != nil && (v.Kind() != domarkx.Object || !listed) {
		return nil, r.located(broken, "")
	}
	if v.Kind() != domarkx.Object {
		return nil, r.at(v, "", "is no object, expected a snapshot of Zeus", nil)
	}
	if err := r.version(v, broken != nil); err != nil {
		return nil, err
	}
	if !listed {
		if entries.Kind() != domarkx.Null {
			return nil, r.at(entries, "/"+keyEntries, fmt.Sprintf("is %s, expected an array", article(entries.Kind())), nil)
		}
		return nil, r.at(v, "", fmt.Sprintf("required member %q is missing, expected the list of agents", keyEntries), nil)
	}
	items := entries.Items()
	note := ""
	if broken != nil {
		note = "; what stands before was read"
		if n := len(items); n > 0 && !isWhole(items[n-1]) {
			items = items[:n-1]
			note = fmt.Sprintf("; what stands before was read, but not entry %d, which is not whole", n-1)
		}
	}
	doc, err := r.document(v, items)
	if err != nil {
		return nil, err
	}
	if broken != nil {
		doc.Damage = []*domarkx.SyntaxError{r.located(broken, note)}
		return doc, nil
	}
	checker, err := c.schema()
	if err != nil {
		return nil, err
	}
	doc.Damage = checker.Check(v, data)
	for _, report := range doc.Damage {
		report.Path = src.Path
	}
	return doc, nil
}

// reading is one document being read.
type reading struct {
	path string
	data []byte
}

// at is an error about a value.
func (r reading) at(v domarkx.Value, pointer, msg string, err error) error {
	line, column := domarkx.Position(r.data, v.Offset())
	return &domarkx.SyntaxError{Path: r.path, Line: line, Column: column, Pointer: pointer, Msg: msg, Err: err}
}

// located gives a parser's error its path, and a note what became of the rest.
func (r reading) located(err error, note string) *domarkx.SyntaxError {
	var at *domarkx.SyntaxError
	if !errors.As(err, &at) {
		return &domarkx.SyntaxError{Path: r.path, Msg: err.Error() + note, Err: err}
	}
	e := *at
	e.Path, e.Msg = r.path, e.Msg+note
	return &e
}

// version checks schema_version as the loader does, for which true and 1.0 are 1.
// Snapshots have it last, so that one that is cut off says none.
func (r reading) version(v domarkx.Value, cut bool) error {
	stated, ok := v.Get(keySchemaVersion)
	switch {
	case !ok && cut:
		return nil
	case !ok:
		return r.at(v, "/"+keySchemaVersion, fmt.Sprintf("required member %q is missing, expected %d", keySchemaVersion, Version), domarkx.ErrUnsupported)
	case stated.Kind() == domarkx.Bool && stated.IsTrue(), stated.Kind() == domarkx.Number && isOne(stated.Text()):
		return nil
	}
	return r.at(stated, "/"+keySchemaVersion, fmt.Sprintf("schema_version is %s, expected %d, the only one that is known", stated.JSON(), Version), domarkx.ErrUnsupported)
}

// isOne reports whether a number is spelled as 1 or 1.0.
func isOne(number string) bool {
	whole, fraction, _ := strings.Cut(number, ".")
	return whole == "1" && strings.Trim(fraction, "0") == ""
}

// document makes a session of a snapshot's object.
func (r reading) document(v domarkx.Value, items []domarkx.Value) (*domarkx.Document, error) {
	doc := &domarkx.Document{Header: domarkx.NewHeader(), Conversation: make([]domarkx.WrittenMessage, 0, len(items))}
	for i, item := range items {
		if item.Kind() == domarkx.Object && KindOf(item) == "" {
			pointer := fmt.Sprintf("/%s/%d", keyEntries, i)
			const expected = `expected "kitty", "stygian" or "hoplite"`
			kind, ok := item.Get(keyKind)
			if !ok {
				return nil, r.at(item, pointer, fmt.Sprintf("required member %q is missing, %s", keyKind, expected), domarkx.ErrUnsupported)
			}
			return nil, r.at(kind, pointer+"/"+keyKind, fmt.Sprintf("is %s, %s", kind.JSON(), expected), domarkx.ErrUnsupported)
		}
		doc.Conversation = append(doc.Conversation, domarkx.WrittenMessage{Message: message(item)})
	}
	about := v.Without(keyEntries)
	if count, ok := about.Get(keyEntryCount); ok && count.JSON() == fmt.Sprint(len(items)) {
		about = about.Without(keyEntryCount) // it follows from the entries
	}
	doc.Header.UserMetadata = &about
	return doc, nil
}

// message makes a message of an entry: what describes the agent is its metadata, and
// its text says the same to people. What is no object, which Zeus passes over, is
// the text of a message.
func message(entry domarkx.Value) domarkx.Message {
	if entry.Kind() != domarkx.Object {
		return domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: entry.JSON()}}}
	}
	return domarkx.Message{Role: domarkx.Assistant, Metadata: &entry, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: describe(entry)}}}
}

// describe says in a sentence what an entry says.
func describe(entry domarkx.Value) string {
	var b strings.Builder
	name := Text(entry, "name")
	if name == "" {
		name = Text(entry, "agent_id")
	}
	if name == "" {
		name = "an agent"
	}
	fmt.Fprintf(&b, "%s, ", plain(name))
	if role := Text(entry, "role"); role != "" && role != KindOf(entry) {
		fmt.Fprintf(&b, "%s, ", plain(role))
	}
	switch kind := KindOf(entry); kind {
	case Kitty:
		b.WriteString("in a kitty window")
		if workspace := Text(entry, "workspace"); workspace != "" && workspace != "?" {
			fmt.Fprintf(&b, " on %s", plain(workspace))
		}
	default:
		fmt.Fprintf(&b, "%s in the tmux session %s", kind, plain(Text(entry, "tmux_session")))
	}
	if owner := Text(entry, "owner_id"); owner != "" {
		fmt.Fprintf(&b, " of %s", plain(owner))
	}
	if cwd := Text(entry, "cwd"); cwd != "" {
		fmt.Fprintf(&b, ", working in %s", plain(cwd))
	}
	b.WriteByte('.')
	if path := Text(entry, keySessionPath); path != "" {
		fmt.Fprintf(&b, "\n\nSession: %s", plain(path))
	}
	return b.String()
}

// plain is text of a document within a line of Markdown.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.NewReplacer("`", "'", "#", "\\#").Replace(strings.TrimSpace(s))
}

// isWhole reports whether the last entry that a broken document has goes as far as
// its session_path.
func isWhole(entry domarkx.Value) bool {
	_, ok := entry.Get(keySessionPath)
	return ok || entry.Kind() != domarkx.Object
}

func article(k domarkx.Kind) string {
	if k == domarkx.Array || k == domarkx.Object {
		return "an " + k.String()
	}
	return "a " + k.String()
}
