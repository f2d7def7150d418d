package pi

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonlines"
	"github.com/domarkx/domarkx/format/schema"
	"github.com/domarkx/domarkx/format/transcript"
)

// lines is an index of the lines of a transcript.
type lines struct {
	path    string
	schema  func() (*schema.Schema, error)
	window  *format.Window
	damage  []*domarkx.SyntaxError
	more    int // reports that are not listed
	header  domarkx.Value
	version int
	number  int // lines read

	nodes    []node
	ids      []key // of the nodes, until they are linked
	parents  []key // ids of the nodes' parents; the zero key for none
	beside   []beside
	pieces   map[int32]int   // of nodes that share a line: which of its objects they are, from 1
	shared   *sharedLine     // the one that was read last; nil for none
	piece    int             // which of the objects on its line is read; 0 when it is the only one
	outlined bool            // the current line was parsed as an outline only
	calls    []uint64        // keys of the calls in messages
	seed     maphash.Seed    // of these keys
	kept     []domarkx.Value // the entries of the first nodes, cached
	room     int64           // remaining bytes of lines whose entries may be cached

	said []string // version 1: ids of the readable objects, the header first
	nth  []int32  // version 1: indexes of the nodes in said
	tail string   // a last line that is broken and has no end: perhaps it is being written
	last string   // the last node's id
	seen bool     // there were nodes before the first of nodes
	// consumed is the end of the lines that will not change when the file grows. open reports that
	// the last of them has no line end yet.
	consumed int64
	open     bool
}

// keepLines is how many bytes of lines are kept as the entries that they are, several
// times as large: short transcripts are read once.
const keepLines = 1 << 20

func newLines(f format.File, schema func() (*schema.Schema, error), keep int64) *lines {
	return &lines{path: f.Path, schema: schema, window: format.NewPassingWindow(f), seed: maphash.MakeSeed(), pieces: map[int32]int{}, room: keep}
}

// maxReports limits the number of reports about one transcript.
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

// reports returns the errors in the lines.
func (l *lines) reports() []*domarkx.SyntaxError {
	if l.more > 0 {
		return append(l.damage, &domarkx.SyntaxError{Path: l.path, Msg: fmt.Sprintf("%d more lines or values are not as the format wants them", l.more)})
	}
	return l.damage
}

// readAll reads a whole transcript.
func (l *lines) readAll(size int64) error {
	head, err := l.window.Bytes(0, min(size, format.HeadSize))
	if err != nil {
		return l.failed(err)
	}
	first := jsonlines.First(head)
	if name := agentOf(head, first); name != "" && !isHeader(first) {
		return &domarkx.SyntaxError{Path: l.path, Line: 1, Column: 1, Err: domarkx.ErrUnsupported,
			Msg: "is a transcript of " + name + ", which is not supported yet; expected one of pi"}
	}
	if err := l.read(size); err != nil {
		return err
	}
	if l.version == 0 {
		return &domarkx.SyntaxError{Path: l.path, Line: 1, Column: 1, Msg: `has no line that can be read, expected the header of a pi session, {"type":"session",…}`}
	}
	return nil
}

// failed adds the name of the file to a read error.
func (l *lines) failed(err error) error { return fmt.Errorf("%s: %w", l.path, err) }

// read reads lines, the header among them when there was none yet.
func (l *lines) read(size int64) error {
	start := int64(0)
	if l.number == 0 {
		if head, err := l.window.Bytes(0, min(size, int64(len(bom)))); err == nil && string(head) == bom {
			start = int64(len(bom))
			l.damage = append(l.damage, format.MarkedJSON(l.path))
		}
	}
	for start < size {
		raw, whole, err := l.window.Line(start)
		if err != nil {
			return l.failed(err)
		}
		if l.number++; l.number == math.MaxInt32 || int64(len(raw)) > math.MaxUint32 || len(l.calls) > math.MaxInt32 {
			return &domarkx.SyntaxError{Path: l.path, Line: l.number, Column: 1, Msg: "is too long a line, or one of too many", Err: domarkx.ErrInvalid}
		}
		at := place{start: start, size: uint32(len(raw)), number: int32(l.number)}
		broken, err := l.line(raw, at, whole)
		if err != nil {
			return err
		}
		if start += int64(len(raw)) + 1; whole || !broken {
			l.consumed, l.open = min(start, size), !whole
		}
	}
	return nil
}

// line reads one line, and reports whether it is broken.
func (l *lines) line(raw []byte, at place, whole bool) (bool, error) {
	content := bytes.TrimSpace(raw)
	if len(content) == 0 {
		return false, nil
	}
	if wrong := format.NoUTF8("", raw); wrong != nil {
		l.report(wrong.Column, "", wrong.Msg)
	}
	v, err := l.parse(raw)
	deep := err == nil && isDeep(raw)
	if err == nil && !deep && v.Kind() == domarkx.Object {
		return false, l.object(v, raw, at)
	}
	at.broken = true
	if deep {
		l.report(1, "", fmt.Sprintf("nested deeper than %d levels; the line of %d bytes is kept as it is, but not read", maxLineDepth, len(raw)))
		return true, l.unread(raw, at, whole)
	}
	if err == nil {
		l.report(1, "", fmt.Sprintf("is %s, expected an object", v.Kind()))
		return true, l.unread(raw, at, whole)
	}
	pieces, good := split(raw)
	if !good {
		var wrong *domarkx.SyntaxError
		column := 1
		if errors.As(err, &wrong) {
			column, err = wrong.Column, errors.New(wrong.Msg)
		}
		l.report(column, "", fmt.Sprintf("%v; the line of %d bytes is kept as it is, but not read", err, len(raw)))
		return true, l.unread(raw, at, whole)
	}
	at.broken, l.outlined = false, false
	msg := "has NUL bytes, which are passed over"
	if len(pieces) > 1 {
		msg = fmt.Sprintf("has %d objects, expected one on a line; they are read one after the other", len(pieces))
	}
	l.report(1, "", msg)
	defer func() { l.piece = 0 }()
	for i, piece := range pieces {
		l.piece = i + 1
		if err := l.object(piece, raw, at); err != nil {
			return false, err
		}
	}
	return false, nil
}

// parse reads a line; if the line will not be cached, only what is needed for the tree.
func (l *lines) parse(raw []byte) (domarkx.Value, error) {
	if l.outlined = l.version > 1 && l.room < int64(len(raw)); l.outlined {
		return domarkx.ParseOutline(raw, isSaid)
	}
	return domarkx.ParseValue(raw)
}

// isSaid reports whether a member of an entry is content that does not affect the tree, given its
// kind.
func isSaid(name string, kind domarkx.Kind) bool {
	switch name {
	case keyText, keyThinking, keySignature, keyData, keyArguments, keyCommand, keyOutput, keySummary, "usage", "details":
		return true
	}
	return name == keyContent && kind == domarkx.String
}

// split divides a line that is not valid JSON into the objects on it, and reports whether the line
// contains only objects and NULs.
func split(raw []byte) ([]domarkx.Value, bool) {
	var pieces []domarkx.Value
	for {
		raw = bytes.Trim(raw, " \t\r\x00")
		if len(raw) == 0 {
			return pieces, len(pieces) > 0
		}
		n := jsonlines.ObjectEnd(raw)
		if n == 0 {
			return nil, false
		}
		v, err := domarkx.ParseValue(raw[:n])
		if err != nil || isDeep(raw[:n]) {
			return nil, false
		}
		pieces, raw = append(pieces, v), raw[n:]
	}
}

// maxLineDepth limits the nesting of a readable line: in a message or its metadata, an entry is up
// to six levels deeper.
const maxLineDepth = domarkx.MaxMessageDepth - 6

// isDeep reports whether JSON is nested deeper than that.
func isDeep(raw []byte) bool {
	if bytes.Count(raw, []byte("["))+bytes.Count(raw, []byte("{")) <= maxLineDepth { // as is plain most often
		return false
	}
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			if depth++; depth > maxLineDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		}
	}
	return false
}

// asText returns a line that is kept as text.
func asText(raw []byte) domarkx.Value {
	return transcript.Str(strings.ToValidUTF8(string(raw), "\ufffd"))
}

// unread keeps a line that is not a JSON object: as an entry if it identifies one, otherwise after
// the entry before it.
func (l *lines) unread(raw []byte, at place, whole bool) error {
	if !whole {
		l.tail = asText(raw).Text()
		return nil
	}
	v, _ := domarkx.ParsePartial(bytes.Trim(raw, " \t\r\x00"))
	id, parent := transcript.Text(v, keyID), transcript.Text(v, keyParentID)
	if l.version == 0 || l.version == 1 || id == "" || !transcript.Has(v, keyParentID) || transcript.Text(v, keyType) == typeSession {
		l.besides(at)
		return nil
	}
	l.node(at, node{calls: uint32(len(l.calls))}, id, parent, asText(raw))
	return nil
}

// besides keeps an object that is not part of the tree.
func (l *lines) besides(at place) {
	l.beside = append(l.beside, beside{at, int32(len(l.nodes) - 1), l.piece})
}
