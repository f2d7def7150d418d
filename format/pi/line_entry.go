package pi

import (
	"fmt"
	"hash/maphash"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
)

// node takes an entry with that id and parent, "" for none.
func (l *lines) node(at place, n node, id, parent string, v domarkx.Value) {
	n.start, n.size, n.number, n.broken, n.above = at.start, at.size, at.number, at.broken, -1
	if l.piece > 0 {
		l.pieces[int32(len(l.nodes))] = l.piece
	}
	l.nodes = append(l.nodes, n)
	before := key{}
	if parent != "" {
		before = keyOf(parent)
	}
	l.ids, l.parents = append(l.ids, keyOf(id)), append(l.parents, before)
	if l.room -= int64(n.size); l.room >= 0 {
		l.kept = append(l.kept, v)
	}
	l.last, l.seen = id, true
}

// object reads a line that is an object.
func (l *lines) object(v domarkx.Value, raw []byte, at place) error {
	if l.version == 0 {
		return l.readHeader(v, raw)
	}
	if transcript.Text(v, keyType) == typeSession {
		l.report(1, "/type", "is a second header, expected an entry")
		l.say("")
		l.besides(at)
		return nil
	}
	n := node{}
	parent := transcript.Text(v, keyParentID)
	if l.version == 1 {
		parent = l.last
		v = migrate(v, raw, at, parent, l.said)
		l.nth = append(l.nth, int32(len(l.said)))
		l.say(transcript.Text(v, keyID))
	}
	if err := l.check(v, raw); err != nil {
		return err
	}
	if n.unnamed = transcript.Text(v, keyID) == ""; n.unnamed {
		v = withID(v, raw, at)
		if !transcript.Has(v, keyParentID) && l.seen {
			parent = l.last
		}
	}
	n.kind, n.naming = kindOf(v), transcript.Text(v, keyType) == typeSessionInfo
	calls := len(l.calls)
	switch n.kind {
	case assistantEntry:
		for _, id := range callsOf(v) {
			l.calls = append(l.calls, maphash.String(l.seed, id))
		}
	case resultEntry:
		message, _ := v.Get(keyMessage)
		l.calls = append(l.calls, maphash.String(l.seed, transcript.Text(message, keyToolCallID)))
	}
	n.calls = uint32(calls)
	l.node(at, n, transcript.Text(v, keyID), parent, v)
	return nil
}

// say notes the id of the next thing that can be read, where version 1 counts them.
func (l *lines) say(id string) {
	if l.version == 1 {
		l.said = append(l.said, id)
	}
}

// check reports what the format forbids in an entry or header.
func (l *lines) check(v domarkx.Value, raw []byte) error {
	if isSound(v) {
		return nil
	}
	schema, err := l.schema()
	if err != nil {
		return err
	}
	if l.outlined {
		if v, err = domarkx.ParseValue(raw); err != nil {
			return l.failed(err)
		}
	}
	for _, e := range schema.Check(v, raw) {
		e.Line = l.number
		l.add(e)
	}
	return nil
}

func (l *lines) readHeader(v domarkx.Value, raw []byte) error {
	fail := func(at domarkx.Value, pointer, msg string, err error) error {
		_, column := domarkx.Position(raw, at.Offset())
		return &domarkx.SyntaxError{Path: l.path, Line: l.number, Column: column, Pointer: pointer, Msg: msg, Err: err}
	}
	if !isHeader(v) {
		return fail(v, "", `is not the header of a pi session, expected {"type":"session","id":…} as the first line that can be read`, nil)
	}
	if l.version = versionOf(v); l.version == 0 {
		stated, _ := v.Get(keyVersion)
		return fail(stated, "/"+keyVersion, fmt.Sprintf("version is %s, expected 1, 2 or 3, the only ones that are known", stated.JSON()), domarkx.ErrUnsupported)
	}
	l.header = v
	l.say("")
	return l.check(v, raw)
}
