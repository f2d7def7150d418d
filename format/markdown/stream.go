package markdown

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// maxWhole is the size in bytes up to which a document is read into memory at once.
const maxWhole = 1 << 20

// opening returns what reads a document that may be larger than memory; one of up to whole
// bytes, or that includes something, is read at once.
func opening(whole int64) func(format.File) iter.Seq2[format.Stream, error] {
	return func(f format.File) iter.Seq2[format.Stream, error] {
		return func(yield func(format.Stream, error) bool) {
			if f.Size > whole {
				s, err := divided(f)
				if !errors.Is(err, errIncludes) {
					yield(s, err)
					return
				}
			}
			data, err := format.NewWindow(f).Bytes(0, f.Size)
			if err != nil {
				yield(format.Stream{}, fmt.Errorf("%s: %w", f.Path, err))
				return
			}
			doc, err := Decode(format.Source{Path: f.Path, Data: data, Include: f.Include})
			if err != nil {
				yield(format.Stream{}, err)
				return
			}
			yield(format.Stream{Header: doc.Header, Preamble: doc.Preamble, Includes: doc.Includes, Messages: format.Conversation(doc.Conversation)}, nil)
		}
	}
}

// errIncludes reports that a document may include files.
var errIncludes = errors.New("a line may be an include")

// A division is an index of a document's messages. A heading of a message closes all open blocks,
// so each message can be read separately.
type division struct {
	file     format.File
	messages *format.Window
	places   []place

	before    *decoder // of the text before the first heading
	preamble  preamble
	resources *jsonvalue.Value // the workspace
	unclosed  string           // the fence that the end of the section read last left open
}

// A place is the start of a message, with the context from the text before it.
type place struct {
	line   int64 // its first line
	indent uint8 // the heading in that
	tight  bool  // see [domarkx.Layout]
}

// heading is the offset at which the message's own bytes begin.
func (p place) heading() int64 { return p.line + int64(p.indent) }

// divided opens a document whose messages are read on demand. It returns errIncludes if the
// document may include files.
func divided(f format.File) (format.Stream, error) {
	d := &division{file: f, messages: format.NewWindow(f)}
	var sc scanner
	begin := 1 // the line that the section begins with
	for line, err := range linesOf(f) {
		switch {
		case err != nil:
			return format.Stream{}, err
		case line.isFront:
			continue
		case mayInclude(line.text):
			return format.Stream{}, errIncludes
		case sc.feed(line.text) != eventBoundary:
			continue
		}
		next := place{line: line.at, indent: uint8(leadingSpaces(line.text, 3))}
		if next.tight, err = d.section(begin, next, false); err != nil {
			return format.Stream{}, err
		}
		d.places, begin = append(d.places, next), line.number
	}
	_, err := d.section(begin, place{line: f.Size}, true)
	if err != nil {
		return format.Stream{}, err
	}
	s := format.Stream{Messages: d}
	s.Header, err = d.before.header(d.before.user, d.preamble, d.resources)
	if err != nil {
		return s, err
	}
	piece, tail, _ := cutPiece(d.before.raw, len(d.places) == 0)
	s.Preamble.Layout = domarkx.Layout{Digest: sha256.Sum256(piece), Size: int64(len(piece)), Tail: tail}
	if len(d.places) == 0 {
		s.Preamble.Fence = d.unclosed
	}
	if s.Preamble.Verbatim = !bytes.Equal(piece, RenderHeader(s.Header)); s.Preamble.Verbatim {
		s.Preamble.Bytes = piece
	}
	return s, nil
}

func (d *division) failed(err error) error { return fmt.Errorf("%s: %w", d.file.Path, err) }

// A fileLine is a line of a document.
type fileLine struct {
	at      int64  // its offset, after a byte order mark
	number  int    // from 1
	text    []byte // without its line end; valid until the next line
	isFront bool   // it is part of the front matter
}

// linesOf yields the lines of a document.
func linesOf(f format.File) iter.Seq2[fileLine, error] {
	return func(yield func(fileLine, error) bool) {
		window, inFront := format.NewWindow(f), false
		for at, number := int64(0), 1; at < f.Size; number++ {
			raw, whole, err := window.Line(at)
			if err != nil {
				yield(fileLine{}, fmt.Errorf("%s: %w", f.Path, err))
				return
			}
			line, end := fileLine{at: at, number: number, text: raw}, at+int64(len(raw))
			if rest, ok := bytes.CutPrefix(raw, []byte(bom)); ok && number == 1 {
				line.at, line.text = int64(len(bom)), rest
			}
			line.text = bytes.TrimSuffix(line.text, []byte("\r"))
			if inFront || number == 1 {
				rule := string(bytes.TrimRight(line.text, " \t"))
				line.isFront = inFront || rule == "---"
				inFront = line.isFront && (number == 1 || rule != "---" && rule != "...")
			}
			if !yield(line, nil) {
				return
			}
			if at = end; whole {
				at++
			}
		}
	}
}

// section reads the last section found, which begins at line number and ends before next. It also
// reports whether the next section is tight.
func (d *division) section(number int, next place, last bool) (tight bool, err error) {
	start := int64(0)
	if n := len(d.places); n > 0 {
		start = d.places[n-1].heading()
	}
	raw, err := d.messages.Bytes(start, next.heading()-start)
	if err != nil {
		return false, d.failed(err)
	}
	if len(d.places) == 0 {
		raw = bytes.Clone(raw)
		err = d.readBefore(raw, len(raw)-int(next.indent))
	} else {
		_, d.unclosed, err = d.message(raw[:len(raw)-int(next.indent)], number)
	}
	_, _, tight = cutPiece(raw, last)
	return tight, err
}

// readBefore reads the text before the first heading, with front matter and text up to end.
func (d *division) readBefore(raw []byte, end int) (err error) {
	b, err := open(raw[:end], d.file.Path, nil) // no line is an include
	if err != nil {
		return err
	}
	b.raw = raw
	err = sections(b.text, func(sec section) (err error) {
		d.unclosed = sec.unclosed
		d.preamble, err = b.preamble(sec, b.takeWorkspace)
		return err
	})
	d.before, d.resources = b, b.resources
	return err
}

// message reads a message whose first line has the given number.
func (d *division) message(raw []byte, number int) (m domarkx.Message, unclosed string, err error) {
	one := decoder{source: source{text: raw, runs: []origin{{path: d.file.Path, line: number}}}, resources: d.resources}
	err = sections(raw, func(sec section) (err error) {
		if sec.role != "" { // otherwise nothing precedes the heading
			m, err = one.message(sec, one.takeWorkspace)
			unclosed = sec.unclosed
		}
		return err
	})
	d.resources = one.resources
	return m, unclosed, err
}

// Len returns the number of messages.
func (d *division) Len() int { return len(d.places) }

func (d *division) At(k int) (domarkx.WrittenMessage, error) {
	at, next, last := d.places[k], place{line: d.file.Size}, k == len(d.places)-1
	if !last {
		next = d.places[k+1]
	}
	var m domarkx.WrittenMessage
	raw, err := d.messages.Bytes(at.heading(), next.heading()-at.heading())
	if err != nil {
		return m, d.failed(err)
	}
	var unclosed string
	if m.Message, unclosed, err = d.message(raw[:len(raw)-int(next.indent)], 1); err != nil {
		return m, err
	}
	piece, tail, _ := cutPiece(raw, last)
	m.Layout = domarkx.Layout{Digest: sha256.Sum256(piece), Size: int64(len(piece)), Tail: tail, Tight: at.tight}
	if last {
		m.Fence = unclosed
	}
	if m.Verbatim = !isCanonical(piece, appendPlain(nil, m.Message), m.Message); m.Verbatim {
		m.Bytes = bytes.Clone(piece)
	}
	return m, nil
}
