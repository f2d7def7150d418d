package zeus

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/format/wtf8"
)

// Write writes a session as Zeus writes its snapshots: JSON indented by two spaces, with sorted
// members, only ASCII and a final newline. It is valid by snapshot.schema.json. Messages whose
// metadata has the kind of an agent become entries; other content is recorded in to.Losses. The
// messages need not be in memory. The entries are.
func Write(h domarkx.Header, messages format.Messages, to format.Target) (func(w io.Writer) error, error) {
	to.LoseHeader(h, "metadata.")
	entries := []jsonvalue.Value{}
	for i := range messages.Len() {
		m, err := messages.At(i)
		if err != nil {
			return nil, err
		}
		if entry, ok := entryOf(i, m.Message, to); ok {
			entries = append(entries, entry)
		}
	}
	var fitting []jsonvalue.Member
	for _, m := range h.Meta().Members() {
		if fits(m) {
			fitting = append(fitting, m)
			continue
		}
		to.Lose("user_metadata.%s", m.Name)
	}
	out := jsonvalue.ObjectValue(jsonvalue.Distinct(fitting)...)
	if transcript.Text(out, keyCreatedAt) == "" {
		out = out.With(keyCreatedAt, jsonvalue.StringValue(FormatTime(format.SnapshotTime(h))))
	}
	if _, ok := out.Get(keyHostname); !ok {
		out = out.With(keyHostname, jsonvalue.StringValue(""))
	}
	if _, ok := out.Get(keyWorking); !ok {
		out = out.With(keyWorking, jsonvalue.ArrayValue())
	}
	out = out.With(keySchemaVersion, jsonvalue.NumberValue(strconv.Itoa(Version))).
		With(keyEntryCount, jsonvalue.NumberValue(strconv.Itoa(len(entries)))).
		With(keyEntries, jsonvalue.ArrayValue(entries...))
	return func(w io.Writer) error {
		_, err := w.Write(AppendJSON(nil, out))
		return err
	}, nil
}

// fits reports whether a member of user_metadata can be stored in a snapshot. Like Zeus, it accepts
// unknown members.
func fits(m jsonvalue.Member) bool {
	switch m.Name {
	case keyCreatedAt:
		_, ok := format.ParseLocalTime(m.Value.Text())
		return ok && m.Value.Kind() == jsonvalue.String
	case keyHostname:
		return m.Value.Kind() == jsonvalue.String
	case keyEntries:
		return false
	case keyWorking:
		return m.Value.Kind() == jsonvalue.Array && !slices.ContainsFunc(m.Value.Items(), func(v jsonvalue.Value) bool { return v.Kind() != jsonvalue.String })
	}
	return true
}

func entryOf(i int, m domarkx.Message, to format.Target) (jsonvalue.Value, bool) {
	if KindOf(m.Meta()) == "" {
		to.LoseOf(i, "what is not an agent")
		return jsonvalue.Value{}, false
	}
	entry := m.Meta()
	if len(m.Content) != 1 || m.Content[0].Type != domarkx.TextBlock || m.Content[0].Text != describe(entry) {
		to.LoseOf(i, "the text")
	}
	to.LoseMembers(i, m)
	if SessionDigest(m) != "" {
		entry = entry.Without(keySessionDigest)
	}
	entry = entry.With(keyKind, jsonvalue.StringValue(KindOf(entry)))
	for _, member := range entry.Members() {
		if slices.Contains(texts, member.Name) && member.Value.Kind() != jsonvalue.String {
			to.LoseOf(i, "message_metadata.%s", member.Name)
			entry = entry.Without(member.Name)
		}
	}
	if _, ok := entry.Get(keySessionPath); !ok {
		entry = entry.With(keySessionPath, jsonvalue.StringValue("")) // a valid entry; Zeus rejects only this agent
	}
	return entry, true
}

// texts are the members of entries that must be strings.
var texts = []string{"name", "agent_id", "role", "cwd", "workspace", keySessionPath, "session_source", "parent_id", "tmux_session", "owner_id", "phalanx_id"}

// FormatTime formats a time as Zeus does: like isoformat in Python, in UTC.
func FormatTime(t time.Time) string {
	t = t.UTC()
	if t.Nanosecond()/1000 == 0 {
		return t.Format("2006-01-02T15:04:05+00:00")
	}
	return t.Format("2006-01-02T15:04:05.000000+00:00")
}

// AppendJSON appends a value as json.dumps writes it in Python with indent=2 and sort_keys=True,
// and a newline.
func AppendJSON(dst []byte, v jsonvalue.Value) []byte {
	return append(jsonvalue.Style{Indent: "  ", Deep: true, Sorted: true, String: appendASCII}.Append(dst, v), '\n')
}

// appendASCII appends a JSON string with escapes for all characters that are not ASCII, as UTF-16
// units. s is WTF-8.
func appendASCII(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, unit := range wtf8.Units(s) {
		switch r := rune(unit); {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case strings.ContainsRune("\b\f\n\r\t", r):
			dst = append(dst, '\\', "btn\x00fr"[r-'\b'])
		case r < ' ' || r > '~':
			dst = fmt.Appendf(dst, "\\u%04x", r)
		default:
			dst = append(dst, byte(r))
		}
	}
	return append(dst, '"')
}
