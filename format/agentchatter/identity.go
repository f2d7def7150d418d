package agentchatter

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/format/wtf8"
)

// Identify returns the identity of the session that the document was saved from, made of its team ID
// and session ID. It returns the zero Identity if the document lacks them.
func Identify(h domarkx.Header) format.Identity { return identify(h.Meta()) }

// identify derives the identity from a document's object, or from a header's user_metadata.
func identify(v jsonvalue.Value) format.Identity {
	team, session := transcript.Text(v, keyTeamID), transcript.Text(v, keySessionID)
	if team == "" || session == "" || transcript.Text(v, keySchemaVersion) != version {
		return format.Identity{}
	}
	id := format.Identity{
		ID:        jsonvalue.ArrayValue(jsonvalue.StringValue(team), jsonvalue.StringValue(session)).JSON(),
		Name:      component(team) + "/" + component(session),
		SessionID: session,
		CreatedAt: transcript.Text(v, keyCreatedAt),
		UpdatedAt: transcript.Text(v, keyUpdatedAt),
	}
	if at, ok := format.ParseLocalTime(id.UpdatedAt); ok {
		id.Saved = at.UnixMilli()
	}
	return id
}

// fork gives a session a new id. The format cannot store the parent's id.
func fork(h domarkx.Header, f format.Fork) (domarkx.Header, bool) {
	if Identify(h).ID == "" {
		return h, false
	}
	about := h.UserMetadata.With(keySessionID, jsonvalue.StringValue(f.UUID))
	h.UserMetadata = &about
	return h, true
}

// component returns an ID as one component of a session's name. IDs without letters and digits are
// changed, because the mapping of names could otherwise remove them entirely.
func component(id string) string {
	if !strings.ContainsFunc(id, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return "_"
	}
	return strings.NewReplacer("/", "-", "\\", "-").Replace(id)
}

// SavedAt returns when a document was saved: from the file's name if the program chose it
// (TIME-SESSION.json), otherwise from the document.
func SavedAt(data []byte, name string) (format.Saving, bool) {
	if digits, session, ok := strings.Cut(path.Base(strings.ReplaceAll(name, "\\", "/")), "-"); ok {
		if at, err := strconv.ParseInt(digits, 10, 64); err == nil && len(digits) == 13 {
			return format.Saving{At: at, Group: session}, true
		}
	}
	v, _ := jsonvalue.ParsePartial(data) // it may be only the beginning
	at, ok := format.ParseLocalTime(transcript.Text(v, keyUpdatedAt))
	return format.Saving{At: at.UnixMilli()}, ok
}

// Place returns the path that the program would choose for a document with this content:
// TEAM/TIME-SESSION.json, with the time in milliseconds since 1970. The program uses the ID of the session
// unchanged, also if it changes the path. Each further attempt is a
// millisecond later, because two teams can share a directory.
func Place(f format.File, attempt int) (format.Place, error) {
	p := newPieces(f)
	err := p.divide(func(extent) error { return nil })
	var broken *damagedError
	if err != nil && !errors.As(err, &broken) {
		return format.Place{}, err
	}
	v := p.frame
	if broken != nil && f.Size <= maxMended { // it is read as far as possible
		data, err := p.bytes(extent{p.start, f.Size})
		if err != nil {
			return format.Place{}, err
		}
		v, _ = jsonvalue.ParsePartial(data)
	}
	id := identify(v)
	if id.ID == "" {
		return format.Place{}, fmt.Errorf("a session of agent-chatter: %w: it has no teamId or no sessionId", domarkx.ErrInvalid)
	}
	team := transcript.Text(v, keyTeamID)
	return format.Place{
		Path: fmt.Sprintf("%s/%d-%s.json", directoryName(team), max(0, id.Saved)+int64(attempt), format.FilePart(id.SessionID, maxFileName)),
		Team: team,
		ID:   id.ID,
	}, nil
}

// maxFileName is the longest file name that file systems accept, in bytes, less the time and the
// extension.
const maxFileName = 255 - 32

// directoryName returns the directory name that the program uses for a team's id: each UTF-16 unit
// other than ASCII letters, digits, '-' and '_' becomes "_".
func directoryName(team string) string {
	var b strings.Builder
	for _, unit := range wtf8.Units(team) {
		if c := byte(unit); unit < 0x80 && (c == '-' || c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			b.WriteByte(c)
		} else {
			b.WriteByte('_')
		}
	}
	s := b.String()
	return s[:min(len(s), maxFileName)]
}

// summary returns the specification's summary (section 6.1) of a conversation of n messages; first
// is the content of the first.
func summary(n int, first string) string {
	preview := domarkx.Preview(domarkx.Message{Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: first}}})
	return domarkx.Info{Messages: n, Preview: preview}.Summary()
}
