// Package openpocket reads and writes the sessions of OpenPocket, Markdown documents
// of one task each. SPEC.md beside this code says how they become domarkx sessions
// and back.
package openpocket

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// Name is what users call the format.
const Name = "openpocket"

// Codec returns the codec for sessions of OpenPocket.
func Codec() format.Codec {
	return format.Codec{
		Name:   Name,
		Detect: Detect,
		Decode: Decode,
		Encode: format.Encoding(Write),
		Write:  Write,
		Origin: format.Origin{Place: Place, Fork: fork, Homes: &format.Homes{Type: Name, Find: findHomes, Names: namesOfHome}},
	}
}

// fork gives a session the time of the fork as its id, like the program does.
func fork(h domarkx.Header, f format.Fork) (domarkx.Header, bool) {
	if !isID(transcript.Text(h.Meta(), keyID)) {
		return h, false
	}
	at := f.At.UTC()
	if at.Format(idTime) == transcript.Text(h.Meta(), keyID) {
		at = at.Add(time.Second)
	}
	about := h.UserMetadata.With(keyID, jsonvalue.StringValue(at.Format(idTime)))
	h.UserMetadata = &about
	return h, true
}

// Place returns the file name that the program would choose for a session, in its session
// directory.
func Place(f format.File, attempt int) (format.Place, error) {
	head, err := format.NewWindow(f).Bytes(0, min(f.Size, format.HeadSize))
	if err != nil {
		return format.Place{}, err
	}
	h := readHeader(string(head))
	id := h.values[0]
	if !Detect(head, "") || !isID(id) {
		return format.Place{}, fmt.Errorf("a session of OpenPocket: %w: its id is not a date and time", domarkx.ErrInvalid)
	}
	name := "session-" + id
	if attempt > 0 {
		name += fmt.Sprintf("-%d", attempt+1)
	}
	return format.Place{Path: name + ".md", ID: id}, nil
}

// Detect reports whether a file is a session of OpenPocket: it begins with that heading and an id.
// The line ends may be those of Windows, because Git can convert them.
func Detect(head []byte, _ string) bool {
	head = bytes.TrimPrefix(head, []byte(bom))
	const begin = title + "- id: "
	return bytes.HasPrefix(head, []byte(begin)) || bytes.HasPrefix(head, []byte(strings.ReplaceAll(begin, "\n", "\r\n")))
}

const bom = "\ufeff"

// The fixed text of sessions (OpenPocket, session and memory formats).
const (
	title      = "# OpenPocket Session\n\n"
	taskStart  = "\n\n## Task\n\n"
	stepsStart = "\n\n## Steps\n\n"
	stepStart  = "### Step "
	atStart    = "\n\n- at: "
	thought    = "\n- thought:\n```text\n"
	action     = "\n```\n- action:\n```json\n"
	result     = "\n```\n- execution_result:\n```text\n"
	stepEnd    = "\n```\n"
	finalStart = "## Final\n\n- status: "
	endedAt    = "\n- ended_at: "
	message    = "\n\n### Message\n\n"
	noThought  = "(empty)"
)

// The lines of the header, which are the members of user_metadata.
var headerKeys = []string{keyID, keyStartedAt, "model_profile", "model_name"}

const (
	keyID        = "id"
	keyStartedAt = "started_at"
)

// The members of message_metadata.
const (
	keyStep      = "step"       // the step's number as spelled
	keyAt        = "at"         // when it was done
	keyAction    = "action"     // the action as spelled, if the tool-call does not determine it
	keyHumanAuth = "human_auth" // what the result says about an approval
	keyStatus    = "status"     // of the final message
	keyEndedAt   = "ended_at"
	keyUnread    = "unread" // true: the text is a piece of the document that could not be read
)

// resource is what tool-call blocks call the device that a step acts on.
const resource = "phone"
