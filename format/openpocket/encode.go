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

// Write writes a session like the program does: the user's first message is the task, each tool
// call of the assistant a step, and the text after its last call the final block. A session without
// such text gets an empty final block, because without one it would look unfinished. The result
// does not depend on the clock or on chance. The program escapes nothing; if a text would read as
// the boundary of a step, the affected lines are indented by a blank. Such changes, and losses, are
// recorded in to.Losses. The messages need not be in memory; the text of the document is.
func Write(h domarkx.Header, messages format.Messages, to format.Target) (func(w io.Writer) error, error) {
	e := encoder{doc: h, messages: messages, to: to}
	if err := e.find(); err != nil {
		return nil, err
	}
	begin, pieces, err := e.document()
	if err == nil && !readBack(begin, pieces) {
		e.escape = true
		begin, pieces, err = e.document()
	}
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error {
		out := bufio.NewWriter(w)
		out.Write(headerText(begin)) // Flush returns the error
		for _, p := range pieces {
			out.Write(appendPiece(out.AvailableBuffer(), p))
		}
		return out.Flush()
	}, nil
}

// readBack reports whether a document reads as it was written.
func readBack(h header, written []piece) bool {
	var body []byte
	for _, p := range written {
		body = appendPiece(body, p)
	}
	return readsAsHeader(string(headerText(h))+string(body), h) && areSame(written, split(string(body), 0))
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

// document returns the header and the pieces of the document in order.
func (e *encoder) document() (begin header, pieces []piece, err error) {
	e.to.ForgetLosses()
	e.steps = 0
	begin = e.header()
	if e.task >= 0 {
		m, err := e.messages.At(e.task)
		if err != nil {
			return begin, nil, err
		}
		begin.task = e.safe(e.task, mdtext.Join(m.Content, m.Glue()), "## Steps")
	}
	for i := range e.messages.Len() {
		m, err := e.messages.At(i)
		if err != nil {
			return begin, nil, err
		}
		pieces = append(pieces, e.piecesOf(i, m)...)
	}
	if !slices.ContainsFunc(pieces, func(p piece) bool { return p.isFinal }) {
		e.to.Lose("that it has no end: a final block with status %s and no message is added", failedStatus)
		if n := len(pieces) - 1; n >= 0 && pieces[n].raw != "" && !strings.HasSuffix(pieces[n].raw, "\n") {
			pieces[n].raw += "\n" // the line end that was cut off
		}
		pieces = append(pieces, piece{isFinal: true, status: failedStatus, endedAt: e.last})
	}
	return begin, pieces, nil
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
