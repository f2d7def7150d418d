package zeus

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/format/transcript"
)

const bom = "\ufeff"

// decode reads a snapshot. It reads a damaged document, and one that only Zeus's own loader
// accepts, as far as possible, and lists the damage in the document. Anything else is a
// [*syntax.Error]; another schema_version or an entry of an unknown kind is also
// [domarkx.ErrUnsupported].
func decode(src format.Source) (*domarkx.Document, error) {
	data, hasMark := bytes.CutPrefix(src.Data, []byte(bom))
	var damage []*syntax.Error
	if hasMark {
		damage = append(damage, format.MarkedJSON(src.Path))
	}
	v, broken := jsonvalue.ParsePartial(data)
	if broken != nil {
		damage = append(damage, wordReports(src.Path, data)...)
		v, broken = jsonvalue.ParsePartial(data, pythonWords...)
	}
	r := reading{path: src.Path, data: data}
	var doc *domarkx.Document
	var err error
	if broken == nil {
		doc, err = r.whole(v)
	} else {
		doc, err = r.salvage(v, broken)
	}
	if err == nil {
		doc.Damage = append(damage, doc.Damage...)
	}
	return doc, err
}

// whole reads a document that is not damaged.
func (r reading) whole(v jsonvalue.Value) (*domarkx.Document, error) {
	if v.Kind() != jsonvalue.Object {
		return nil, r.at(v, "", "is not an object, expected a snapshot of Zeus", nil)
	}
	if err := r.version(v, false); err != nil {
		return nil, err
	}
	entries, listed := v.Get(keyEntries)
	if !listed {
		return nil, r.at(v, "", fmt.Sprintf("required member %q is missing, expected the list of agents", keyEntries), nil)
	}
	if entries.Kind() != jsonvalue.Array {
		return nil, r.at(entries, "/"+keyEntries, fmt.Sprintf("is %s, expected an array", syntax.Article(entries.Kind().String())), nil)
	}
	doc, err := r.document(v)
	if err == nil {
		doc.Damage = snapshotSchema().Damage(r.path, v, r.data)
	}
	return doc, err
}

// salvage reads a damaged document.
func (r reading) salvage(v jsonvalue.Value, broken error) (*domarkx.Document, error) {
	whole, gaps := format.Salvage(r.data, v, broken, isEntry, pythonWords, keyEntries)
	damage := format.Damaged(r.path, r.data, broken, gaps, "entries")
	if transcript.Get(v, keyEntries).Kind() != jsonvalue.Array && len(transcript.Get(whole, keyEntries).Items()) == 0 {
		return nil, damage[0]
	}
	if err := r.version(whole, true); err != nil {
		return nil, err
	}
	doc, err := r.document(whole)
	if err == nil {
		doc.Damage = damage
	}
	return doc, err
}

// isEntry reports whether a value, which may be incomplete, is an entry: whether it has a kind and
// a session_path.
func isEntry(v jsonvalue.Value) bool { return transcript.Has(v, keyKind, keySessionPath) }

// reading is a document that is being read.
type reading struct {
	path string
	data []byte
}

// at returns an error about a value.
func (r reading) at(v jsonvalue.Value, pointer, msg string, err error) error {
	line, column := syntax.Position(r.data, v.Offset())
	return &syntax.Error{Path: r.path, Line: line, Column: column, Pointer: pointer, Msg: msg, Err: err}
}

// version checks schema_version like the loader of Zeus, which treats true and 1.0 as 1. If the
// snapshot was cut off, it may be missing, because it is the last member.
func (r reading) version(v jsonvalue.Value, cut bool) error {
	stated, ok := v.Get(keySchemaVersion)
	switch {
	case !ok && cut:
		return nil
	case !ok:
		return r.at(v, "/"+keySchemaVersion, fmt.Sprintf("required member %q is missing, expected %d", keySchemaVersion, Version), domarkx.ErrUnsupported)
	case IsVersion(stated):
		return nil
	}
	return r.at(stated, "/"+keySchemaVersion, fmt.Sprintf("schema_version is %s, expected %d, the only one that is known", stated.JSON(), Version), domarkx.ErrUnsupported)
}

// IsVersion reports whether a schema_version is [Version]. Like Zeus, it accepts true, 1.0 and 1e0
// for 1.
func IsVersion(stated jsonvalue.Value) bool {
	switch stated.Kind() {
	case jsonvalue.Bool:
		return stated.IsTrue()
	case jsonvalue.Number:
		n, err := strconv.ParseFloat(stated.Text(), 64)
		return err == nil && n == Version
	}
	return false
}

// document converts a snapshot's object to a session.
func (r reading) document(v jsonvalue.Value) (*domarkx.Document, error) {
	items := transcript.Get(v, keyEntries).Items()
	doc := &domarkx.Document{Header: domarkx.NewHeader(), Conversation: make([]domarkx.WrittenMessage, 0, len(items))}
	for i, item := range items {
		if item.Kind() == jsonvalue.Object && KindOf(item) == "" {
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
		about = about.Without(keyEntryCount) // the entries determine it
	}
	doc.Header.UserMetadata = &about
	return doc, nil
}

// message converts an entry to a message: the properties of the agent become metadata, and the text
// describes them for people. An entry that is not an object, which Zeus ignores, becomes a message
// with its JSON as text.
func message(entry jsonvalue.Value) domarkx.Message {
	if entry.Kind() != jsonvalue.Object {
		return domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: entry.JSON()}}}
	}
	return domarkx.Message{Role: domarkx.Assistant, Metadata: &entry, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: describe(entry)}}}
}

func describe(entry jsonvalue.Value) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, ", plain(cmp.Or(transcript.Text(entry, "name"), transcript.Text(entry, "agent_id"), "an agent")))
	if role := transcript.Text(entry, "role"); role != "" && role != KindOf(entry) {
		fmt.Fprintf(&b, "%s, ", plain(role))
	}
	switch kind, workspace := KindOf(entry), transcript.Text(entry, "workspace"); {
	case kind != Kitty:
		fmt.Fprintf(&b, "%s in the tmux session %s", kind, plain(transcript.Text(entry, "tmux_session")))
	case workspace == "" || workspace == "?":
		b.WriteString("in a kitty window")
	default:
		fmt.Fprintf(&b, "in a kitty window on %s", plain(workspace))
	}
	if owner := transcript.Text(entry, "owner_id"); owner != "" {
		fmt.Fprintf(&b, " of %s", plain(owner))
	}
	if cwd := transcript.Text(entry, "cwd"); cwd != "" {
		fmt.Fprintf(&b, ", working in %s", plain(cwd))
	}
	b.WriteByte('.')
	if path := transcript.Text(entry, keySessionPath); path != "" {
		fmt.Fprintf(&b, "\n\nSession: %s", plain(path))
	}
	return b.String()
}

// plain returns text of a document as a part of a line of Markdown.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.NewReplacer("`", "'", "#", "\\#").Replace(strings.TrimSpace(s))
}
