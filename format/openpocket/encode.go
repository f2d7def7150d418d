package openpocket

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// Encode writes a session like the program does: the user's first message is the task, each tool
// call of the assistant a step, and the text after its last call the final block. A session without
// such text gets an empty final block, because without one it would look unfinished. The result
// does not depend on the clock or on chance. The program escapes nothing; if a text would read as
// the boundary of a step, the affected lines are indented by a blank. Such changes, and losses, are
// recorded in to.Losses.
func Encode(doc *domarkx.Document, to format.Target) ([]byte, error) {
	return format.Whole(Write, doc, to)
}

// Write is Encode for messages that need not be in memory, unless the session has unreadable
// pieces. It requests each message once to check that the document reads back correctly, or twice
// if it does not, and once more each time the document is written.
func Write(h domarkx.Header, messages format.Messages, to format.Target) (func(w io.Writer) error, error) {
	e := encoder{doc: h, messages: messages, to: to}
	if err := e.find(); err != nil {
		return nil, err
	}
	sound, err := e.readsBack()
	if err == nil && !sound {
		e.escape = true
		err = e.pieces(func(header) error { return nil }, func(piece) error { return nil })
	}
	if err != nil {
		return nil, err
	}
	e.to.Losses = nil // losses are recorded once
	return e.write, nil
}

func (e encoder) write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	err := e.pieces(
		func(h header) error { _, err := out.Write(headerText(h)); return err },
		func(p piece) error { _, err := out.Write(appendPiece(out.AvailableBuffer(), p)); return err })
	if err != nil {
		return err
	}
	return out.Flush()
}

// readsBack reports whether the document parses to the written value. A piece that parses correctly
// alone also does so in the document, because it ends where the next begins. Unstructured text may
// join its neighbours.
func (e *encoder) readsBack() (bool, error) {
	var h header
	sound, first, crowded, whole := true, true, false, false
	err := e.pieces(
		func(begin header) error { h = begin; return nil },
		func(p piece) error {
			whole = whole || p.raw != ""
			if whole || !sound {
				return nil
			}
			text := string(appendPiece(nil, p))
			if first {
				sound, first = readsAsHeader(string(headerText(h))+text, h), false
			}
			// A reader does not look further than maxTries headings for the end of a piece.
			sound = sound && !crowded && areSame([]piece{p}, split(text, 0))
			crowded = len(headsIn(text)) >= maxTries
			return nil
		})
	if whole && err == nil {
		return e.readsBackWhole()
	}
	return sound, err
}

// readsBackWhole is readsBack for a document in memory.
func (e *encoder) readsBackWhole() (bool, error) {
	var written []piece
	var h header
	if err := e.pieces(func(begin header) error { h = begin; return nil }, func(p piece) error { written = append(written, p); return nil }); err != nil {
		return false, err
	}
	var body []byte
	for _, p := range written {
		body = appendPiece(body, p)
	}
	return readsAsHeader(string(headerText(h))+string(body), h) && areSame(written, split(string(body), 0)), nil
}

func readsAsHeader(document string, h header) bool {
	read := readHeader(document)
	return !read.cut && read.task == h.task && read.body == len(headerText(h))
}

// areSame reports whether pieces were read as they were written.
func areSame(written, read []piece) bool {
	return slices.EqualFunc(written, read, func(a, b piece) bool {
		if b.ambiguous && !a.ambiguous {
			return false
		}
		b.offset, b.ambiguous = 0, a.ambiguous
		return a == b
	})
}

// pieces generates the header and the pieces of the document in order.
func (e *encoder) pieces(begin func(header) error, next func(piece) error) error {
	e.to.ForgetLosses()
	e.steps = 0
	h := e.header()
	if e.task >= 0 {
		m, err := e.messages.At(e.task)
		if err != nil {
			return err
		}
		h.task = e.safe(e.task, mdtext.Join(m.Content, m.Glue()), "## Steps")
	}
	if err := begin(h); err != nil {
		return err
	}
	ended := false
	var before *piece
	for i := range e.messages.Len() {
		m, err := e.messages.At(i)
		if err != nil {
			return err
		}
		for _, p := range e.piecesOf(i, m) {
			if before != nil {
				if err := next(*before); err != nil {
					return err
				}
			}
			before, ended = &p, ended || p.isFinal
		}
	}
	if !ended {
		e.to.Lose("that it has no end: a final block with status %s and no message is added", failedStatus)
		if before != nil && before.raw != "" && !strings.HasSuffix(before.raw, "\n") {
			before.raw += "\n" // the line end that was cut off
		}
	}
	if before != nil {
		if err := next(*before); err != nil {
			return err
		}
	}
	if !ended {
		return next(piece{isFinal: true, status: failedStatus, endedAt: e.last})
	}
	return nil
}

// find looks for the task, which is the first message of the user (if there is none, of the system),
// and for the last message that can be the end.
func (e *encoder) find() error {
	e.task, e.answer, e.end = -1, -1, e.messages.Len()-1
	for ; e.end >= 0; e.end-- {
		m, err := e.messages.At(e.end)
		if err != nil {
			return err
		}
		if m.Role == domarkx.Assistant && !isUnread(m.Message) {
			break
		}
	}
	for i := range e.messages.Len() {
		m, err := e.messages.At(i)
		if err != nil {
			return err
		}
		switch {
		case m.Role == domarkx.Assistant && e.answer < 0:
			e.answer = i
		case m.Role == domarkx.User && transcript.Text(m.Meta(), "role") != "system":
			e.task = i
			return nil
		case m.Role == domarkx.User && e.task < 0:
			e.task = i
		}
	}
	return nil
}

// encoder writes one document.
type encoder struct {
	doc      domarkx.Header
	messages format.Messages
	to       format.Target
	escape   bool
	task     int    // the message that is the task; -1 for none
	answer   int    // the first message of the assistant that was seen looking for it; -1 for none
	end      int    // the last message of the assistant, ignoring unreadable text; -1 for none
	steps    int    // the number of the last step
	last     string // when the last piece was
}
