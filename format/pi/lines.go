package pi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/schema"
)

// A node is an entry of the tree.
type node struct {
	id, parent string
	hasParent  bool          // parent names an entry
	value      domarkx.Value // the entry; a string, the line, when that is broken
	after      []domarkx.Value
	// above is the parent's index, -1 for none; children counts those that have this one.
	above, children int
}

// A lines reads the lines of a transcript.
type lines struct {
	path    string
	schema  func() (*schema.Schema, error)
	damage  []*domarkx.SyntaxError
	more    int // reports that are not told
	header  domarkx.Value
	version int
	number  int // lines read

	nodes []node
	lead  []domarkx.Value // lines without a place in the tree before the first node
	ids   []string        // of version 1: by the number of what can be read, the header first
	tail  string          // a last line that is broken and has no end: perhaps it is being written
	last  string          // the last node's id
	seen  bool            // there were nodes before the first of nodes
	// consumed is where the lines end that will not change when the file grows, and open
	// says that the last of them has no line end yet.
	consumed int
	open     bool
}

// maxReports bounds how many reports there are on one transcript.
const maxReports = 100

func (l *lines) report(column int, pointer, msg string) {
	l.add(&domarkx.SyntaxError{Line: l.number, Column: column, Pointer: pointer, Msg: msg})
}

func (l *lines) add(e *domarkx.SyntaxError) {
	e.Path = l.path
	if len(l.damage) == maxReports {
		l.more++
		return
	}
	l.damage = append(l.damage, e)
}

// reports returns what is wrong with the lines.
func (l *lines) reports() []*domarkx.SyntaxError {
	if l.more > 0 {
		return append(l.damage, &domarkx.SyntaxError{Path: l.path, Msg: fmt.Sprintf("%d more lines or values are not as the format wants them", l.more)})
	}
	return l.damage
}

// readAll reads a whole transcript.
func (l *lines) readAll(src format.Source) error {
	l.path = src.Path
	head := src.Data[:min(len(src.Data), format.HeadSize)]
	first := firstObject(head)
	if name := agentOf(head, first); name != "" && !isHeader(first) {
		return &domarkx.SyntaxError{Path: src.Path, Line: 1, Column: 1, Err: domarkx.ErrUnsupported,
			Msg: "is a transcript of " + name + ", which is not supported yet; expected one of pi"}
	}
	if err := l.read(src.Data); err != nil {
		return err
	}
	if l.version == 0 {
		return &domarkx.SyntaxError{Path: src.Path, Line: 1, Column: 1, Msg: `has no line that can be read, expected the header of a pi session, {"type":"session",…}`}
	}
	return nil
}

// read reads lines, the header among them when there was none yet.
func (l *lines) read(data []byte) error {
	start := 0
	if l.number == 0 && bytes.HasPrefix(data, []byte(bom)) {
		start = len(bom)
	}
	for start < len(data) {
		end := bytes.IndexByte(data[start:], '\n')
		whole := end >= 0
		if end < 0 {
			end = len(data) - start
		}
		l.number++
		raw := data[start : start+end]
		broken, err := l.line(raw, whole)
		if err != nil {
			return err
		}
		if start += end + 1; whole || !broken {
			l.consumed, l.open = min(start, len(data)), !whole
		}
	}
	return nil
}

// line reads one line, and reports whether it is broken.
func (l *lines) line(raw []byte, whole bool) (bool, error) {
	content := bytes.TrimSpace(raw)
	if len(content) == 0 {
		return false, nil
	}
	v, err := domarkx.ParseValue(raw)
	if err == nil && v.Kind() == domarkx.Object {
		return false, l.object(v, raw)
	}
	if err == nil {
		l.report(1, "", fmt.Sprintf("is %s, expected an object", v.Kind()))
		return true, l.unread(raw, whole)
	}
	pieces, good := split(raw)
	if !good {
		var at *domarkx.SyntaxError
		column := 1
		if errors.As(err, &at) {
			column, err = at.Column, errors.New(at.Msg)
		}
		l.report(column, "", fmt.Sprintf("%v; the line of %d bytes is kept as it is, but not read", err, len(raw)))
		return true, l.unread(raw, whole)
	}
	msg := "has NUL bytes, which are passed over"
	if len(pieces) > 1 {
		msg = fmt.Sprintf("has %d objects, expected one on a line; they are read one after the other", len(pieces))
	}
	l.report(1, "", msg)
	for _, piece := range pieces {
		if err := l.object(piece, raw); err != nil {
			return false, err
		}
	}
	return false, nil
}

// split divides a line that is no JSON into the objects on it, and reports whether it
// is nothing but objects and NULs.
func split(raw []byte) ([]domarkx.Value, bool) {
	var pieces []domarkx.Value
	for {
		raw = bytes.Trim(raw, " \t\r\x00")
		if len(raw) == 0 {
			return pieces, len(pieces) > 0
		}
		n := objectEnd(raw)
		if n == 0 {
			return nil, false
		}
		v, err := domarkx.ParseValue(raw[:n])
		if err != nil {
			return nil, false
		}
		pieces, raw = append(pieces, v), raw[n:]
	}
}

// objectEnd returns where the object ends with which text begins; 0 when there is none.
func objectEnd(s []byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
		if depth == 0 {
			return 0
		}
	}
	return 0
}

// unread keeps a line that is no JSON object: as an entry when it says which, else
// behind the entry before it.
func (l *lines) unread(raw []byte, whole bool) error {
	line := str(strings.ToValidUTF8(string(raw), "\ufffd"))
	if !whole {
		l.tail = line.Text()
		return nil
	}
	v, _ := domarkx.ParsePartial(bytes.Trim(raw, " \t\r\x00"))
	id, parent := text(v, keyID), text(v, keyParentID)
	if l.version == 0 || l.version == 1 || id == "" || !has(v, keyParentID) || text(v, keyType) == typeSession {
		l.beside(line)
		return nil
	}
	l.node(node{id: id, parent: parent, hasParent: parent != "", value: line})
	return nil
}

// beside keeps what has no place in the tree.
func (l *lines) beside(v domarkx.Value) {
	if n := len(l.nodes); n > 0 {
		l.nodes[n-1].after = append(l.nodes[n-1].after, v)
	} else {
		l.lead = append(l.lead, v)
	}
}

func (l *lines) node(n node) {
	l.nodes = append(l.nodes, n)
	l.last, l.seen = n.id, true
}

// object reads a line that is an object.
func (l *lines) object(v domarkx.Value, raw []byte) error {
	if l.version == 0 {
		return l.readHeader(v, raw)
	}
	if text(v, keyType) == typeSession {
		l.report(1, "/type", "is a second header, expected an entry")
		l.ids = append(l.ids, "")
		l.beside(v)
		return nil
	}
	if l.version == 1 {
		v = l.migrate(v, raw)
	}
	if err := l.check(v, raw); err != nil {
		return err
	}
	n := node{id: text(v, keyID), parent: text(v, keyParentID), value: v}
	n.hasParent = n.parent != ""
	if n.id == "" {
		n.id = derivedID(l.number, raw)
		n.value = v.With(keyID, str(n.id))
		if !has(v, keyParentID) && l.seen {
			n.parent, n.hasParent = l.last, true
		}
	}
	l.node(n)
	return nil
}

// check reports what an entry or header has that the format forbids.
func (l *lines) check(v domarkx.Value, raw []byte) error {
	if isSound(v) {
		return nil
	}
	schema, err := l.schema()
	if err != nil {
		return err
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
		return fail(v, "", `is no header of a pi session, expected {"type":"session","id":…} as the first line that can be read`, nil)
	}
	if l.version = versionOf(v); l.version == 0 {
		stated, _ := v.Get(keyVersion)
		return fail(stated, "/"+keyVersion, fmt.Sprintf("version is %s, expected 1, 2 or 3, the only ones that are known", stated.JSON()), domarkx.ErrUnsupported)
	}
	l.header = v
	l.ids = append(l.ids, "")
	return l.check(v, raw)
}

// migrate gives an entry of version 1 the ids that later versions have.
func (l *lines) migrate(v domarkx.Value, raw []byte) domarkx.Value {
	if text(v, keyID) == "" {
		v = v.With(keyID, str(derivedID(l.number, raw)))
	}
	parent := domarkx.Value{}
	if l.seen {
		parent = str(l.last)
	}
	v = v.With(keyParentID, parent)
	if index, ok := v.Get(keyFirstKeptIndex); ok && text(v, keyType) == typeCompaction && !has(v, keyFirstKept) {
		if i, err := strconv.Atoi(index.Text()); err == nil && i > 0 && i < len(l.ids) {
			v = v.Without(keyFirstKeptIndex).With(keyFirstKept, str(l.ids[i]))
		}
	}
	l.ids = append(l.ids, text(v, keyID))
	return v
}

// derivedID is the id of an entry that has none: it follows from where and what it is.
func derivedID(number int, raw []byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "pi entry %d\n", number)
	sum.Write(bytes.TrimSpace(raw))
	return hex.EncodeToString(sum.Sum(nil)[:4])
}
