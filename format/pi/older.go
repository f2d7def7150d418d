package pi

import (
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
)

// Earlier versions of this program stored the header of a transcript as the front matter of its
// session, and in the metadata of each message its entries without their content.

// current returns the header of a session in the present form.
func current(h domarkx.Header) domarkx.Header {
	was := h.Meta()
	if !isHeader(was) || transcript.Has(was, "agent") {
		return h
	}
	about := transcript.Object("agent", Name, keySession, transcript.Text(was, "id"))
	for _, name := range [][2]string{{"session_name", "title"}, {"timestamp", keyCreated}, {"parentSession", keyParent}} {
		if text := transcript.Text(was, name[0]); text != "" {
			about = about.With(name[1], transcript.Str(text))
		}
	}
	for _, m := range was.Members() {
		switch m.Name {
		case "type", "version", "id", "timestamp", "session_name", "parentSession", "entries_after":
		default: // such as cwd, fork, and what the user added
			about = about.With(m.Name, m.Value)
		}
	}
	h.UserMetadata = &about
	return h
}

// isOldState reports whether an earlier version of this program stored that knowledge about a
// transcript.
func isOldState(state string) bool { return strings.HasPrefix(state, `{"version":`) }

// currentMessages are messages in the present form, without what their original says of them.
type currentMessages struct {
	format.Messages
	hasOriginal bool
}

// At returns message k.
func (c currentMessages) At(k int) (domarkx.WrittenMessage, error) {
	m, err := c.Messages.At(k)
	if err == nil && m.Metadata != nil && c.hasOriginal {
		now := m.Metadata.Without(transcript.KeySummary)
		m.Metadata = &now
	}
	if err != nil || !transcript.Has(m.Meta(), "entry") {
		return m, err
	}
	id := transcript.Text(m.Meta(), "entry", "id")
	now := m.Metadata.Without("entry").Without("results").Without("entries_before").With("id", transcript.Str(id))
	m.Metadata = &now
	return m, nil
}
