package agentchatter

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/schema"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/format/transcript"
)

// pieces is a document that is read message by message. In memory is only its frame: the text before
// and after the array of messages.
type pieces struct {
	file   format.File
	window *format.Window
	start  int64           // offset of the JSON text, after any byte order mark
	items  []extent        // the messages
	inside extent          // byte range of the messages array, without its brackets
	frame  jsonvalue.Value // the document, with the messages removed
	text   []byte          // the parsed frame
	first  string          // the content of the first message
	damage reports
}

func newPieces(f format.File) *pieces {
	p := &pieces{file: f, window: format.NewWindow(f)}
	if head, err := p.window.Bytes(0, min(f.Size, int64(len(bom)))); err == nil && string(head) == bom {
		p.start = int64(len(bom))
	}
	p.damage.place = place{window: format.NewWindow(f), at: p.start, line: 1, column: 1}
	return p
}

// An extent is a range of bytes of a file.
type extent struct{ from, to int64 }

// Len returns the number of messages.
func (p *pieces) Len() int { return len(p.items) }

func (p *pieces) At(k int) (domarkx.WrittenMessage, error) {
	raw, err := p.bytes(p.items[k])
	if err != nil {
		return domarkx.WrittenMessage{}, err
	}
	v, err := jsonvalue.ParseValue(raw)
	if err != nil {
		return domarkx.WrittenMessage{}, fmt.Errorf("%s: %w: the file changed while it was read; import it again", p.file.Path, domarkx.ErrInvalid)
	}
	return domarkx.WrittenMessage{Message: message(v)}, nil
}

// End returns where message k ends in the file.
func (p *pieces) End(k int) int64 { return p.items[k].to }

func (p *pieces) bytes(e extent) ([]byte, error) {
	raw, err := p.window.Bytes(e.from, e.to-e.from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.file.Path, err)
	}
	return raw, nil
}

// A damagedError says where a document is damaged.
type damagedError struct {
	at  int64 // in the file
	msg string
}

func (e *damagedError) Error() string { return e.msg }

// read finds and checks the messages and then the frame. For a damaged document it returns a
// *damagedError; p then holds the messages before the damage and, if readable, the frame.
func (p *pieces) read() error {
	message := sessionSchema().Definition("message")
	if err := p.divide(func(e extent) error { return p.item(e, message) }); err != nil {
		return err
	}
	return p.checkFrame()
}

// divide finds the messages, which it gives to item, and reads the frame.
func (p *pieces) divide(item func(extent) error) error {
	damaged := p.scan(item)
	var broken *damagedError
	if damaged != nil && !errors.As(damaged, &broken) {
		return damaged
	}
	head, err := p.bytes(extent{p.start, p.inside.from})
	if err != nil {
		return err
	}
	p.text = bytes.Clone(head)
	if damaged == nil {
		tail, err := p.bytes(extent{p.inside.to, p.file.Size})
		if err != nil {
			return err
		}
		p.text = append(p.text, tail...)
	}
	if p.frame, err = jsonvalue.ParsePartial(p.text); err != nil && damaged == nil {
		var at *syntax.Error
		if !errors.As(err, &at) {
			return err
		}
		return &damagedError{at: p.place(at.Line, at.Column), msg: at.Msg}
	}
	return damaged
}

// cutOff reports the damage at which reading stopped.
func (p *pieces) cutOff(broken *damagedError) ([]*syntax.Error, error) {
	e := &syntax.Error{Line: 1, Column: 1, Msg: fmt.Sprintf("%s; %d bytes from here on, after %d messages, were not read, because the document is larger than %d MiB",
		broken.msg, p.file.Size-broken.at, len(p.items), maxMended>>20)}
	if err := p.damage.place.locate(broken.at, e); err != nil {
		return nil, err
	}
	all := p.damage.damage(p.file.Path)
	e.Path = p.file.Path
	return append(all, e), nil
}

// item records one message, given its position in the file.
func (p *pieces) item(e extent, checker *schema.Schema) error {
	raw, err := p.bytes(e)
	if err != nil {
		return err
	}
	v, err := jsonvalue.ParseValue(raw)
	if err != nil {
		return &damagedError{at: e.from, msg: "a message here is not valid JSON: " + err.Error()}
	}
	if v.Depth() > maxItemDepth {
		return &damagedError{at: e.from, msg: fmt.Sprintf("a message here is nested deeper than %d levels", maxItemDepth)}
	}
	if len(p.items) == 0 {
		p.first = transcript.Text(v, keyContent)
	}
	p.items = append(p.items, e)
	pointer := fmt.Sprintf("/%s/%s/%d", keyContext, keyMessages, len(p.items)-1)
	return p.damage.addAll(e.from, checker.Check(v, raw), format.NoUTF8("", raw), pointer)
}

// checkFrame reports errors outside the messages. Offsets after the messages are shifted by the length
// of the messages.
func (p *pieces) checkFrame() error {
	var before, behind []*syntax.Error
	for _, r := range sessionSchema().Check(p.frame, p.text) {
		if p.fromCut(r) {
			behind = append(behind, r)
		} else {
			before = append(before, r)
		}
	}
	cut := p.inside.from - p.start
	if err := p.damage.addAll(p.inside.to, behind, format.NoUTF8("", p.text[cut:]), ""); err != nil {
		return err
	}
	p.damage.all = append(before, p.damage.all...)
	if no := format.NoUTF8("", p.text[:cut]); no != nil {
		p.damage.noUTF8 = no
	}
	return nil
}

// fromCut converts a position in the frame's text that is after the messages to one relative to the
// text there. It reports false for a position before them.
func (p *pieces) fromCut(e *syntax.Error) bool {
	line, column := syntax.Position(p.text, int(p.inside.from-p.start))
	if e.Line < line || e.Line == line && e.Column < column {
		return false
	}
	if e.Line == line {
		e.Column -= column - 1
	}
	e.Line -= line - 1
	return true
}

// fail returns an error about a value of the frame.
func (p *pieces) fail(v jsonvalue.Value, pointer, msg string, err error) error {
	e := &syntax.Error{Path: p.file.Path, Pointer: pointer, Msg: msg, Err: err}
	e.Line, e.Column = syntax.Position(p.text, v.Offset())
	if p.fromCut(e) {
		if err := p.damage.place.locate(p.inside.to, e); err != nil {
			return err
		}
	}
	return e
}

// place converts a position in the frame's text to a position in the file.
func (p *pieces) place(line, column int) int64 {
	at := syntax.Offset(p.text, line, column)
	if cut := int(p.inside.from - p.start); at >= cut {
		return p.inside.to + int64(at-cut)
	}
	return p.start + int64(at)
}

// reports collects the errors in a document.
type reports struct {
	all    []*syntax.Error
	more   int
	noUTF8 *syntax.Error // the first of its kind
	place  place
}

// maxReports limits the number of reports about one document.
const maxReports = 100

// addAll adds reports about a part of the document. from is where the part begins.
func (r *reports) addAll(from int64, found []*syntax.Error, noUTF8 *syntax.Error, pointer string) error {
	if noUTF8 != nil && r.noUTF8 == nil {
		if err := r.place.locate(from, noUTF8); err != nil {
			return err
		}
		r.noUTF8 = noUTF8
	}
	for _, e := range found {
		if len(r.all) > maxReports {
			r.more++
			continue
		}
		e.Pointer = pointer + e.Pointer
		if err := r.place.locate(from, e); err != nil {
			return err
		}
		r.all = append(r.all, e)
	}
	return nil
}

func (r *reports) damage(path string) []*syntax.Error {
	all := r.all
	if len(all) > maxReports {
		more := len(all) - maxReports + r.more
		all = all[:maxReports+1]
		all[maxReports].Pointer, all[maxReports].Msg = "", fmt.Sprintf("from here on %d more values are not as the format wants them", more)
	}
	if r.noUTF8 != nil {
		all = append([]*syntax.Error{r.noUTF8}, all...)
	}
	for _, e := range all {
		e.Path = path
	}
	return all
}

// A place is a position in a file, advanced as the file is read.
type place struct {
	window       *format.Window
	at           int64
	line, column int
}

// locate converts a position within a part to a position in the file. from is where the part begins.
func (p *place) locate(from int64, e *syntax.Error) error {
	for p.at < from {
		part, err := p.window.Bytes(p.at, min(from-p.at, 64<<10))
		if err != nil {
			return err
		}
		if p.at+int64(len(part)) < from { // a block may end inside a character
			part = part[:len(part)-format.Partial(part)]
		}
		p.at += int64(len(part))
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			p.line += bytes.Count(part, []byte("\n"))
			p.column, part = 1, part[i+1:]
		}
		p.column += utf8.RuneCount(part)
	}
	if e.Line == 1 {
		e.Column += p.column - 1
	}
	e.Line += p.line - 1
	return nil
}
