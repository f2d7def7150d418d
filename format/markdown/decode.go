package markdown

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

const bom = "\ufeff"

// Decode reads a Markdown document. The layouts of the result record its spelling, so that [Encode]
// restores the same bytes; bytes kept verbatim share src.Data. Errors in the document are
// [*syntax.Error] values.
func Decode(src format.Source) (*domarkx.Document, error) {
	d, err := open(src.Data, src.Path, src.Include)
	if err != nil {
		return nil, err
	}
	if err := d.read(); err != nil {
		return nil, err
	}
	d.layOut()
	return d.doc, nil
}

// ParseMessage reads one message, whose bytes begin with its heading.
func ParseMessage(body []byte) (domarkx.Message, error) {
	d, err := open(body, "", nil)
	if err != nil {
		return domarkx.Message{}, err
	}
	if err := d.read(); err != nil {
		return domarkx.Message{}, err
	}
	if len(d.doc.Conversation) != 1 || d.starts[0] != 0 {
		return domarkx.Message{}, &syntax.Error{Line: 1, Column: 1,
			Msg: fmt.Sprintf("%d messages, expected one that begins with its heading", len(d.doc.Conversation))}
	}
	return d.doc.Conversation[0].Message, nil
}

// A decoder reads one document.
type decoder struct {
	source
	raw        []byte // the document
	directives []int  // positions of included texts in the document, sorted
	user       *jsonvalue.Value
	resources  *jsonvalue.Value // the workspace

	doc      *domarkx.Document
	starts   []int  // offset of each message's heading; -1 for a message from an included file
	unclosed string // a fence that was still open at the end of the document
}

// open reads the front matter and expands the includes.
func open(raw []byte, name string, include func(string) ([]byte, error)) (*decoder, error) {
	d := &decoder{raw: raw, doc: &domarkx.Document{}}
	start := 0
	if bytes.HasPrefix(raw, []byte(bom)) {
		start = len(bom)
	}
	start, line, err := d.frontMatter(name, start)
	if err != nil {
		return nil, err
	}
	x := expander{include: include, directory: path.Dir(name), files: map[string]*file{}}
	if d.source, d.directives, err = x.expand(raw[start:], name, "", start, line, 0); err != nil {
		return nil, err
	}
	d.doc.Includes = x.includes()
	return d, nil
}

// frontMatter reads the YAML between two lines --- at the start of the document,
// and returns where the rest begins, and the number of its first line.
func (d *decoder) frontMatter(name string, start int) (rest, number int, err error) {
	line, at := cutLine(d.raw, start)
	if at == start || string(bytes.TrimRight(line, " \t")) != "---" {
		return start, 1, nil
	}
	body := at
	for number = 2; at < len(d.raw); number++ {
		line, next := cutLine(d.raw, at)
		if end := string(bytes.TrimRight(line, " \t")); end == "---" || end == "..." {
			err := d.userMetadata(name, d.raw[body:at])
			return next, number + 1, err
		}
		at = next
	}
	return 0, 0, &syntax.Error{Path: name, Line: 1, Column: 1, Msg: "the front matter is not closed, expected a line --- after it"}
}

func (d *decoder) userMetadata(name string, front []byte) error {
	v, err := parseMapping(unixLines(front), depthUserMetadata)
	if err != nil {
		var e *syntax.Error
		if !errors.As(err, &e) {
			return fmt.Errorf("front matter of %q: %w", name, err)
		}
		return &syntax.Error{Path: name, Line: e.Line + 1, Column: e.Column, Msg: "front matter: " + e.Msg}
	}
	d.user = &v
	return nil
}

// read reads the header and the messages.
func (d *decoder) read() error {
	var before preamble
	first := true
	err := sections(d.text, func(sec section) (err error) {
		d.unclosed = sec.unclosed
		if first {
			first = false
			before, err = d.preamble(sec, d.takeWorkspace)
			return err
		}
		m, err := d.message(sec, d.takeWorkspace)
		if err != nil {
			return err
		}
		start := -1
		if run := d.origin(sec.start); run.raw >= 0 {
			start = run.raw + sec.start - run.at
			start += leadingSpaces(d.raw[start:], 3)
		}
		d.starts = append(d.starts, start)
		d.doc.Conversation = append(d.doc.Conversation, domarkx.WrittenMessage{Message: m})
		return nil
	})
	if err != nil {
		return err
	}
	d.doc.Header, err = d.header(d.user, before, d.resources)
	return err
}

// takeWorkspace reads a workspace-config block; only the first of a document counts.
func (d *decoder) takeWorkspace(seg segment) error {
	v, err := d.workspace(seg)
	if err == nil && d.resources == nil {
		d.resources = &v
	}
	return err
}

// layOut records how each piece of the document is written.
func (d *decoder) layOut() {
	id := IncludesID(d.doc.Includes)
	messages := d.doc.Conversation
	at, tight := 0, false
	var scratch []byte
	for i := -1; i < len(messages); {
		next := i + 1
		for next < len(messages) && d.starts[next] < 0 {
			next++
		}
		end := len(d.raw)
		if next < len(messages) {
			end = d.starts[next]
		}
		l := domarkx.Layout{Tight: tight, Span: next - i - 1}
		var piece []byte
		if piece, l.Tail, tight = cutPiece(d.raw[at:end], next == len(messages)); next == len(messages) {
			l.Fence = d.unclosed
		}
		l.Digest, l.Size = sha256.Sum256(piece), int64(len(piece))
		if k, _ := slices.BinarySearch(d.directives, at); k < len(d.directives) && d.directives[k] < end {
			l.Includes = id
		}
		written := &d.doc.Preamble
		if i >= 0 {
			written = &messages[i].Written
			scratch = appendPlain(scratch[:0], messages[i].Message)
			l.Verbatim = !isCanonical(piece, scratch, messages[i].Message)
		} else {
			l.Verbatim = !bytes.Equal(piece, RenderHeader(d.doc.Header))
		}
		written.Layout = l
		if l.Verbatim {
			written.Bytes = piece
		}
		for k := i + 1; k < next; k++ {
			messages[k] = WriteMessage(messages[k].Message)
			messages[k].Within, messages[k].Includes = k-i, l.SpanID()
		}
		i, at = next, end
	}
}

// isCanonical reports whether the bytes from which m was read are the canonical rendering of m. plain
// is m rendered as ordinary Markdown. isCanonical does not parse the bytes again.
func isCanonical(piece, plain []byte, m domarkx.Message) bool {
	if bytes.Equal(piece, plain) {
		return !hides(piece)
	}
	return bytes.Contains(piece, []byte(wholeMessage)) && bytes.Equal(piece, RenderMessage(m))
}

// cutPiece decides how many of the bytes before a heading belong to the preceding piece: all except
// for one blank line, if a separator restores that. It returns how the piece ends, and whether the
// next piece is tight (follows without a blank line). The heading's indentation belongs to the
// preceding piece, because the indentation could change the meaning of a heading after another piece:
// after a list, the heading would become part of the list.
func cutPiece(raw []byte, last bool) (piece []byte, tail domarkx.Tail, tight bool) {
	tail = tailOf(raw)
	switch {
	case last:
		return raw, tail, false
	case tail == domarkx.TailOpen:
		return raw, domarkx.TailBlank, false
	}
	for _, blank := range []string{"\r\n", "\n"} {
		before, ok := bytes.CutSuffix(raw, []byte(blank))
		if !ok || len(before) == 0 || before[len(before)-1] != '\n' {
			continue
		}
		if t := tailOf(before); domarkx.Separator(domarkx.Layout{Tail: t}, domarkx.Layout{}) == blank {
			return before, t, false
		}
	}
	return raw, tail, tail != domarkx.TailBlank
}

// tailOf returns how a piece ends.
func tailOf(piece []byte) domarkx.Tail {
	if len(piece) == 0 || string(piece) == bom {
		return domarkx.TailBlank
	}
	if piece[len(piece)-1] != '\n' {
		return domarkx.TailOpen
	}
	body := chomp(piece)
	switch {
	case isBlank(body[bytes.LastIndexByte(body, '\n')+1:]):
		return domarkx.TailBlank
	case len(piece)-len(body) == 2:
		return domarkx.TailCRLF
	}
	return domarkx.TailLine
}

// Detect reports whether a file is a session in Markdown: it has a heading that begins a message,
// or a block that configures a session. A name with another format's extension counts against it,
// because comments in other languages look like headings.
func Detect(head []byte, name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case "", ".md", ".markdown", ".mdown", ".mkd", ".txt":
	default:
		return false
	}
	found := errors.New("found")
	return sections(bytes.TrimPrefix(head, []byte(bom)), func(sec section) error {
		if sec.role != "" {
			return found
		}
		for _, seg := range sec.segments {
			if seg.is(sessionConfig) || seg.is(workspaceConfig) || seg.is(wholeSnapshot) {
				return found
			}
		}
		return nil
	}) != nil
}
