package openpocket

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/format/transcript"
)

// Decode reads a session. The program never reads its files back and escapes nothing, so a session
// is read as far as possible: text that is not a step becomes a message of its own, and the
// document's damage reports it. A file that does not begin like a session is a
// [*syntax.Error].
func Decode(src format.Source) (*domarkx.Document, error) {
	if !Detect(src.Data, "") {
		return nil, &syntax.Error{Path: src.Path, Line: 1, Column: 1, Msg: `expected "# OpenPocket Session", an empty line and "- id: "`}
	}
	d := decoder{src: src, s: strings.ToValidUTF8(string(src.Data), "\ufffd"), doc: &domarkx.Document{Header: domarkx.NewHeader()}}
	if report := format.NoUTF8(src.Path, src.Data); report != nil {
		d.doc.Damage = append(d.doc.Damage, report)
	}
	d.plain()
	h := readHeader(d.s)
	d.header(h)
	pieces := split(d.s[h.body:], h.body)
	for _, p := range pieces {
		d.piece(p)
	}
	final := slices.IndexFunc(pieces, func(p piece) bool { return p.isFinal })
	if final < 0 && !h.cut {
		d.report(len(d.s), "ends without a final message, expected \"## Final\"")
	}
	behind := pieces[final+1:]
	if i := slices.IndexFunc(behind, func(p piece) bool { return p.isStep || p.isFinal }); final >= 0 && i >= 0 {
		d.report(behind[i].offset, "continues after the final message, expected the end; perhaps two sessions share the file")
	}
	if d.more > 0 {
		d.doc.Damage = append(d.doc.Damage, &syntax.Error{Path: src.Path, Msg: fmt.Sprintf("%d more pieces or values are not as the format wants them", d.more)})
	}
	return d.doc, nil
}

// plain removes what the program never writes but other tools add: a byte order mark and Windows
// line ends.
func (d *decoder) plain() {
	if rest, ok := strings.CutPrefix(d.s, bom); ok {
		d.s = rest
		d.report(0, "begins with a byte order mark, expected the heading; it is passed over")
	}
	if strings.HasPrefix(d.s, "# OpenPocket Session\r\n") {
		d.s = strings.ReplaceAll(d.s, "\r\n", "\n")
		d.report(0, "has line ends of Windows (CR LF), expected LF; they read as LF")
	}
}

// A decoder reads one document.
type decoder struct {
	src  format.Source
	s    string
	doc  *domarkx.Document
	more int // reports that are not listed
}

// maxReports limits the number of reports about one document.
const maxReports = 100

// report records damage at an offset.
func (d *decoder) report(offset int, msg string) {
	if len(d.doc.Damage) >= maxReports {
		d.more++
		return
	}
	line, column := syntax.Position([]byte(d.s), offset)
	d.doc.Damage = append(d.doc.Damage, &syntax.Error{Path: d.src.Path, Line: line, Column: column, Msg: msg})
}

// idTime is the layout, as in package time, of the time that serves as an ID.
const idTime = "20060102-150405"

// isID reports whether an ID is a date and time in the form that the program generates.
func isID(id string) bool {
	_, err := time.Parse(idTime, id)
	return err == nil && len(id) == len(idTime)
}

func (d *decoder) header(h header) {
	about := jsonvalue.ObjectValue()
	for i, key := range headerKeys {
		if h.cut && h.values[i] == "" {
			continue
		}
		about = about.With(key, jsonvalue.StringValue(h.values[i]))
	}
	d.doc.Header.UserMetadata = &about
	if id := h.values[0]; !isID(id) {
		d.report(len(title), fmt.Sprintf("id is %q, expected a date and time such as 20260218-130000", id))
	}
	if at := h.values[1]; !h.cut {
		if !isTime(at) {
			d.report(strings.Index(d.s, "- started_at: "), fmt.Sprintf("started_at is %q, expected a date and time", at))
		}
	}
	if h.cut {
		d.report(h.body, "the header is cut off, expected id, started_at, model_profile, model_name, \"## Task\" and \"## Steps\"")
	}
	if h.task != "" || !h.cut {
		d.text(domarkx.User, h.task, jsonvalue.ObjectValue())
	}
}

// text adds a message of text, which is Markdown.
func (d *decoder) text(role domarkx.Role, text string, metadata jsonvalue.Value) {
	m := domarkx.Message{Role: role}
	var between []string
	if m.Content, between = mdtext.Split(text); between != nil {
		metadata = metadata.With(domarkx.MetadataGlue, jsonvalue.Strings(between))
	}
	d.add(m, metadata)
}

func (d *decoder) add(m domarkx.Message, metadata jsonvalue.Value) {
	if len(metadata.Members()) > 0 {
		m.Metadata = &metadata
	}
	d.doc.Conversation = append(d.doc.Conversation, domarkx.WrittenMessage{Message: m})
}

func (d *decoder) piece(p piece) {
	switch {
	case p.isStep:
		d.step(p)
	case p.isFinal:
		if p.status != successStatus && p.status != failedStatus {
			d.report(p.offset, fmt.Sprintf("status is %q, expected SUCCESS or FAILED", p.status))
		}
		d.time(p.offset, "ended_at", p.endedAt)
		if p.cut {
			d.report(p.offset+len(appendPiece(nil, p))-1, "the last line of the final message has no end; perhaps it is cut off")
		}
		d.text(domarkx.Assistant, p.message, transcript.Object(keyStatus, p.status, keyEndedAt, p.endedAt))
	default:
		d.report(p.offset, "is not a complete step or final message; it is kept as a message of its own")
		d.add(domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{transcript.Code("text", p.raw)}},
			transcript.Object(keyUnread, true))
	}
}

func (d *decoder) time(offset int, name, value string) {
	if !isTime(value) {
		d.report(offset, fmt.Sprintf("%s is %q, expected a date and time", name, value))
	}
}

// isTime reports whether a text is a date and time (ISO 8601); the program writes them in
// UTC.
func isTime(s string) bool {
	_, ok := format.ParseLocalTime(s)
	return ok
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// step adds the message of a step: thought, tool-call, tool-result and picture.
func (d *decoder) step(p piece) {
	d.time(p.offset, "at", p.at)
	if !isNumber(p.number) {
		d.report(p.offset, fmt.Sprintf("step %q, expected a number", p.number))
	}
	if p.ambiguous {
		d.report(p.offset, fmt.Sprintf("step %s can be read in more than one way: its content has headings or fences of a step", p.number))
	}
	metadata := transcript.Object(keyStep, p.number, keyAt, p.at)
	call, derived := callOf(p.action)
	if derived != p.action || derived == "" {
		metadata = metadata.With(keyAction, jsonvalue.StringValue(p.action))
	}
	if derived == "" {
		d.report(p.offset, fmt.Sprintf("the action of step %s is not a JSON object", p.number))
	}
	if auth, ok := humanAuth(p.result); ok {
		metadata = metadata.With(keyHumanAuth, auth)
	}
	var content []domarkx.Block
	if p.thought != noThought {
		content = append(content, transcript.Code("thought", p.thought))
	}
	content = append(content, transcript.Code("tool-call", call), transcript.Code("tool-result", resultOf(p.result)))
	if picture, ok := pictureOf(p.number, p.result); ok {
		content = append(content, picture)
	}
	d.add(domarkx.Message{Role: domarkx.Assistant, Content: content}, metadata)
}
