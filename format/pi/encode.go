package pi

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/transcript"
)

// Encode writes a session as a transcript of version 3, without branches. Each message becomes an
// entry, and so does each result of its calls. Other entries from between the messages of an
// imported transcript are restored. The result does not depend on the clock or on chance. Losses
// are recorded in to.Losses.
func Encode(doc *domarkx.Document, to format.Target) ([]byte, error) {
	return format.Whole(Write, doc, to)
}

// Write is Encode for messages that need not be in memory. It requests each message once to find
// losses and the ids of entries, and once more each time the document is written.
func Write(h domarkx.Header, messages format.Messages, to format.Target) (func(w io.Writer) error, error) {
	e := encoder{doc: h, messages: messages, to: to, about: domarkx.ObjectValue(), ids: map[key]idUse{}, out: bufio.NewWriter(io.Discard)}
	if h.UserMetadata != nil {
		e.about = *h.UserMetadata
	}
	for again := true; again; again = e.clashes { // all ids are known the second time
		to.ForgetLosses()
		e.clashes = false
		if err := e.document(); err != nil {
			return nil, err
		}
		if e.removed == nil {
			if err := e.findRemoved(); err != nil {
				return nil, err
			}
			if len(e.removed) > 0 {
				e.clashes = true // written again, with their entries
			}
		}
	}
	e.to.Losses = nil // losses are recorded once
	return func(w io.Writer) error {
		e := e
		e.out = bufio.NewWriterSize(w, 64<<10)
		if err := e.document(); err != nil {
			return err
		}
		return e.out.Flush()
	}, nil
}

// encoder writes one document.
type encoder struct {
	doc      domarkx.Header
	messages format.Messages
	to       format.Target
	about    domarkx.Value // user_metadata
	out      *bufio.Writer
	last     string        // the entry written last
	ids      map[key]idUse // of entries
	clashes  bool          // a generated id equals the id of a later entry
	at       string        // the time of the entry written last
	name     string        // the name in the last session_info written
	model    domarkx.Value // the last assistant's message written
	// removed are the entries that stood before messages of the original that were
	// removed, by the entry of the next message that remains.
	removed map[key][]domarkx.Value
}

// An idUse records how an id is used.
type idUse uint8

const (
	idTaken  idUse = 1 << iota // by an entry already written
	idChosen                   // by an entry as its own
	idMade                     // generated for an entry without one
)

func (e *encoder) isUsed(id string, as idUse) bool { return e.ids[keyOf(id)]&as != 0 }

// document writes the document.
func (e *encoder) document() error {
	for id, use := range e.ids {
		if e.ids[id] = use & idChosen; use&idChosen == 0 {
			delete(e.ids, id)
		}
	}
	e.last, e.name, e.model = "", "", domarkx.Value{}
	after, _ := e.about.Get(keyAfter)
	e.reserve(after)
	if err := e.header(); err != nil {
		return err
	}
	for i := range e.messages.Len() {
		m, err := e.messages.At(i)
		if err != nil {
			return err
		}
		if m.Metadata != nil {
			entry, _ := m.Metadata.Get(keyEntry)
			before, _ := m.Metadata.Get(keyBefore)
			results, _ := m.Metadata.Get(keyResults)
			e.reserve(domarkx.ArrayValue(entry), before, results, domarkx.ArrayValue(e.removed[keyOf(transcript.Text(entry, keyID))]...))
		}
		e.message(i, m)
	}
	if isHeader(e.about) {
		e.entries(after)
		if name := transcript.Text(e.about, keySessionName); name != e.name {
			e.entry(transcript.Object(keyType, transcript.Str(typeSessionInfo), keyTimestamp, transcript.Str(e.at), keyName, transcript.Str(name)), "name")
		}
	}
	return nil
}

func (e *encoder) lose(i int, form string, args ...any) {
	e.to.LoseOf(i, form, args...)
}

// isoTime is how pi spells times.
const isoTime = "2006-01-02T15:04:05.000Z"

// fallback is the time of what says none: that of the snapshot.
func (e *encoder) fallback() time.Time {
	if t, ok := format.ParseTime(e.doc.ImportTimestamp); ok {
		return t
	}
	return time.Unix(0, 0)
}

// reserve notes which ids entries in lists have of their own.
func (e *encoder) reserve(lists ...domarkx.Value) {
	for _, list := range lists {
		for _, v := range list.Items() {
			id := keyOf(transcript.Text(v, keyID))
			e.clashes = e.clashes || e.ids[id]&(idMade|idChosen) == idMade
			e.ids[id] |= idChosen
		}
	}
}

// header writes the first line.
func (e *encoder) header() error {
	h := e.doc
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
	id, err := e.sessionID()
	if err != nil {
		return err
	}
	line := transcript.Object(keyType, transcript.Str(typeSession), keyVersion, transcript.Num(int64(version)), keyID, transcript.Str(id),
		keyTimestamp, transcript.Str(e.fallback().UTC().Format(isoTime)), keyCwd, transcript.Str("/"))
	var said []domarkx.Member
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
				said = append(said, m)
			}
		default:
			said = append(said, m)
		}
	}
	line = domarkx.ObjectValue(domarkx.Distinct(slices.Concat(line.Members(), said))...)
	e.at = transcript.Text(line, keyTimestamp)
	e.write(line)
	return nil
}

// write writes a line. The end reports errors.
func (e *encoder) write(v domarkx.Value) {
	e.out.Write(append(v.AppendJSON(e.out.AvailableBuffer(), "", ""), '\n'))
}

// sessionID returns the transcript's own id. A session without one, or that is only a branch, gets
// an id derived from its content.
func (e *encoder) sessionID() (string, error) {
	if isHeader(e.about) && !isPart(e.doc) {
		return transcript.Text(e.about, keyID), nil
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "pi session\x00%s\x00%s\x00%s\x00", e.to.Session, transcript.Text(e.about, keyID), transcript.Text(e.about, keyFork))
	if e.messages.Len() > 0 {
		first, err := e.messages.At(0)
		if err != nil {
			return "", err
		}
		if first.ID.IsZero() {
			sum.Write(first.Message.Value().AppendJSON(nil, "", ""))
		}
		sum.Write(first.ID[:])
	}
	id := uuid.UUID(sum.Sum(nil)[:16])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String(), nil
}

// entry writes an entry after the last one. An entry without a free id gets one derived from seed.
func (e *encoder) entry(v domarkx.Value, seed string) {
	id := transcript.Text(v, keyID)
	use := idTaken
	if id == "" || e.isUsed(id, idTaken) {
		use |= idMade
		for n := 0; id == "" || e.isUsed(id, idTaken|idChosen); n++ {
			sum := sha256.Sum256(fmt.Appendf(nil, "pi entry %s %s %d", seed, e.last, n))
			id = fmt.Sprintf("%x", sum[:4])
		}
	}
	parent := domarkx.Value{}
	if e.last != "" {
		parent = transcript.Str(e.last)
	}
	if _, ok := format.ParseTime(transcript.Text(v, keyTimestamp)); !ok {
		v = v.With(keyTimestamp, transcript.Str(e.at))
	}
	members := []domarkx.Member{{Name: keyType, Value: transcript.Str(transcript.Text(v, keyType))}, {Name: keyID, Value: transcript.Str(id)}, {Name: keyParentID, Value: parent}}
	for _, m := range v.Members() {
		switch m.Name {
		case keyType, keyID, keyParentID:
		default:
			members = append(members, m)
		}
	}
	if kept := transcript.Text(v, keyFirstKept); transcript.Text(v, keyType) == typeCompaction && kept != "" && !e.isUsed(kept, idTaken) {
		e.to.Lose("what the compaction %q keeps: it begins with the entry %q, which does not exist, so that pi keeps nothing before it", id, kept)
	}
	e.write(domarkx.ObjectValue(members...))
	e.last, e.at = id, transcript.Text(v, keyTimestamp)
	e.ids[keyOf(id)] |= use
	if transcript.Text(v, keyType) == typeSessionInfo {
		e.name = transcript.Text(v, keyName)
	}
}

// entries writes entries that are not messages. A string is a line that could not be read.
func (e *encoder) entries(list domarkx.Value) {
	for _, v := range list.Items() {
		switch {
		case v.Kind() == domarkx.Object && transcript.Text(v, keyType) == typeSession:
			e.write(v)
		case v.Kind() == domarkx.Object && transcript.Text(v, keyType) != "":
			e.entry(migrated(v), "kept")
		case v.Kind() == domarkx.String && isBroken(v.Text()):
			e.out.WriteString(v.Text())
			e.out.WriteByte('\n')
		default:
			e.to.Lose("an entry without a type: %.60s", v.JSON())
		}
	}
}

// isBroken reports whether readers would not parse a line as an entry.
func isBroken(line string) bool {
	if strings.ContainsRune(line, '\n') {
		return false
	}
	v, err := domarkx.ParseValue([]byte(line))
	if err == nil {
		return v.Kind() != domarkx.Object || isDeep([]byte(line))
	}
	_, good := split([]byte(line))
	return !good
}

// migrated converts an entry of version 2 to version 3.
func migrated(v domarkx.Value) domarkx.Value {
	message, ok := v.Get(keyMessage)
	if ok && transcript.Text(message, keyRole) == roleHook {
		return v.With(keyMessage, message.With(keyRole, transcript.Str(roleCustom)))
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
	said := transcript.Text(entry, keyTimestamp)
	if t, ok := format.ParseTime(said); ok {
		at = t
	} else {
		said = at.UTC().Format(isoTime)
	}
	return said, domarkx.NumberValue(strconv.FormatInt(at.UnixMilli(), 10))
}
