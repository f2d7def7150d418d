package pi

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// Encode writes a session as a transcript of version 3, without branches: each message
// is an entry, as are the results of its calls, and what else was between the messages
// of an imported transcript stands there again. Nothing depends on the clock or on
// chance. What the format has no place for is told to to.Lost.
func Encode(doc *domarkx.Document, to format.Target) ([]byte, error) {
	e := encoder{doc: doc, to: to, about: domarkx.ObjectValue(), taken: map[string]bool{}, chosen: map[string]bool{}}
	if doc.Header.UserMetadata != nil {
		e.about = *doc.Header.UserMetadata
	}
	e.reserve()
	e.header()
	for i, m := range doc.Conversation {
		e.message(i, m)
	}
	after, _ := e.about.Get(keyAfter)
	if isHeader(e.about) {
		e.entries(after)
		if name := text(e.about, keySessionName); name != e.name {
			e.entry(object(keyType, str(typeSessionInfo), keyTimestamp, str(e.at), keyName, str(name)), "name")
		}
	}
	return e.out, nil
}

// encoder writes one document.
type encoder struct {
	doc    *domarkx.Document
	to     format.Target
	about  domarkx.Value // user_metadata
	out    []byte
	last   string          // the entry written last
	taken  map[string]bool // ids of entries that were written
	chosen map[string]bool // ids that entries to be written have of their own
	at     string          // the time of the entry written last
	name   string          // what the last session_info written says
	model  domarkx.Value   // the last assistant's message written
}

func (e *encoder) lose(i int, form string, args ...any) {
	e.to.Lose("message %d: %s", i, fmt.Sprintf(form, args...))
}

// isoTime is how pi spells times.
const isoTime = "2006-01-02T15:04:05.000Z"

// fallback is the time of what says none: that of the snapshot.
func (e *encoder) fallback() time.Time {
	if t, ok := format.ParseTime(e.doc.Header.ImportTimestamp); ok {
		return t
	}
	return time.Unix(0, 0)
}

// reserve notes which ids entries have of their own.
func (e *encoder) reserve() {
	for _, m := range e.doc.Conversation {
		if m.Metadata == nil {
			continue
		}
		entry, _ := m.Metadata.Get(keyEntry)
		e.chosen[text(entry, keyID)] = true
		for _, name := range []string{keyBefore, keyResults} {
			list, _ := m.Metadata.Get(name)
			for _, v := range list.Items() {
				e.chosen[text(v, keyID)] = true
			}
		}
	}
	after, _ := e.about.Get(keyAfter)
	for _, v := range after.Items() {
		e.chosen[text(v, keyID)] = true
	}
}

// header writes the first line.
func (e *encoder) header() {
	h := e.doc.Header
	if len(h.ExecutionConfig.Members()) > 0 {
		e.to.Lose("execution_config (session-config, workspace-config)")
	}
	if h.Setup != nil {
		e.to.Lose("setup_script")
	}
	for _, m := range slices.Concat(h.MetadataExtra, h.Extra) {
		e.to.Lose("%s", m.Name)
	}
	own := isHeader(e.about)
	line := object(keyType, str(typeSession), keyVersion, number(version), keyID, str(e.sessionID()),
		keyTimestamp, str(e.fallback().UTC().Format(isoTime)), keyCwd, str("/"))
	for _, m := range e.about.Members() {
		switch {
		case m.Name == keyAfter || m.Name == keyFork || m.Name == keySessionName:
			if !own {
				e.to.Lose("user_metadata.%s", m.Name)
			}
		case !own:
			e.to.Lose("user_metadata.%s", m.Name)
		case m.Name == keyVersion || m.Name == keyID && isPart(h):
		case m.Name == keyCwd && m.Value.Kind() != domarkx.String:
			e.to.Lose("user_metadata.%s", m.Name)
		case m.Name == keyTimestamp:
			if _, ok := format.ParseTime(m.Value.Text()); ok {
				line = line.With(m.Name, m.Value)
			}
		default:
			line = line.With(m.Name, m.Value)
		}
	}
	e.at = text(line, keyTimestamp)
	e.write(line)
}

func (e *encoder) write(v domarkx.Value) {
	e.out = append(v.AppendJSON(e.out, "", ""), '\n')
}

// sessionID is the transcript's own id. A session that is only a branch of one, or
// none, gets one that follows from what it is.
func (e *encoder) sessionID() string {
	if isHeader(e.about) && !isPart(e.doc.Header) {
		return text(e.about, keyID)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "pi session\x00%s\x00%s\x00%s\x00", e.to.Session, text(e.about, keyID), text(e.about, keyFork))
	if len(e.doc.Conversation) > 0 {
		first := e.doc.Conversation[0]
		if first.ID.IsZero() {
			sum.Write(first.Message.Value().AppendJSON(nil, "", ""))
		}
		sum.Write(first.ID[:])
	}
	id := uuid.UUID(sum.Sum(nil)[:16])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

// entry writes an entry behind the last one. seed is what its id follows from when it
// has none that is free.
func (e *encoder) entry(v domarkx.Value, seed string) {
	id := text(v, keyID)
	if id == "" || e.taken[id] {
		for n := 0; id == "" || e.taken[id] || e.chosen[id]; n++ {
			sum := sha256.Sum256(fmt.Appendf(nil, "pi entry %s %s %d", seed, e.last, n))
			id = fmt.Sprintf("%x", sum[:4])
		}
	}
	parent := domarkx.Value{}
	if e.last != "" {
		parent = str(e.last)
	}
	if _, ok := format.ParseTime(text(v, keyTimestamp)); !ok {
		v = v.With(keyTimestamp, str(e.at))
	}
	members := []domarkx.Member{{Name: keyType, Value: str(text(v, keyType))}, {Name: keyID, Value: str(id)}, {Name: keyParentID, Value: parent}}
	for _, m := range v.Members() {
		switch m.Name {
		case keyType, keyID, keyParentID:
		default:
			members = append(members, m)
		}
	}
	if kept := text(v, keyFirstKept); text(v, keyType) == typeCompaction && kept != "" && !e.taken[kept] {
		e.to.Lose("what the compaction %q keeps: it begins with the entry %q, which is not there, so that pi keeps nothing before it", id, kept)
	}
	e.write(domarkx.ObjectValue(members...))
	e.last, e.at = id, text(v, keyTimestamp)
	e.taken[id] = true
	if text(v, keyType) == typeSessionInfo {
		e.name = text(v, keyName)
	}
}

// entries writes entries that are no messages. What could not be read is a string, the
// line.
func (e *encoder) entries(list domarkx.Value) {
	for _, v := range list.Items() {
		switch {
		case v.Kind() == domarkx.Object && text(v, keyType) == typeSession:
			e.write(v)
		case v.Kind() == domarkx.Object && text(v, keyType) != "":
			e.entry(migrated(v), "kept")
		case v.Kind() == domarkx.String && isBroken(v.Text()):
			e.out = append(append(e.out, v.Text()...), '\n')
		default:
			e.to.Lose("an entry without a type: %.60s", v.JSON())
		}
	}
}

// isBroken reports whether a line is none that a reader would take for an entry.
func isBroken(line string) bool {
	if strings.ContainsRune(line, '\n') {
		return false
	}
	v, err := domarkx.ParseValue([]byte(line))
	if err == nil {
		return v.Kind() != domarkx.Object
	}
	_, good := split([]byte(line))
	return !good
}

// migrated returns an entry of version 2 as version 3 has it.
func migrated(v domarkx.Value) domarkx.Value {
	message, ok := v.Get(keyMessage)
	if ok && text(message, keyRole) == roleHook {
		return v.With(keyMessage, message.With(keyRole, str(roleCustom)))
	}
	return v
}

// times returns when a message was, as pi spells it in an entry and in a message: what
// the entry says, else when the text was written.
func (e *encoder) times(m domarkx.WrittenMessage, entry domarkx.Value) (string, domarkx.Value) {
	at := e.fallback()
	if m.Date != 0 {
		at = time.Unix(m.Date, 0)
	}
	said := text(entry, keyTimestamp)
	if t, ok := format.ParseTime(said); ok {
		at = t
	} else {
		said = at.UTC().Format(isoTime)
	}
	return said, domarkx.NumberValue(strconv.FormatInt(at.UnixMilli(), 10))
}
