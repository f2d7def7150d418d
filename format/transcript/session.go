package transcript

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// The members of a session's front matter.
const (
	keyTitle    = "title"
	keyAgent    = "agent"
	keySession  = "session_id"
	keySub      = "agent_id" // the id of a sub-agent within the session
	keyParent   = "parent"   // the session_id of the session that started it
	keyCreated  = "created_at"
	keyCwd      = "cwd"
	keyBranches = "git_branches"
	keyFork     = "fork" // the id of the last record or message of an abandoned branch
)

// header returns the front matter of a session.
func (a *Agent) header(s Session) domarkx.Header {
	h := domarkx.NewHeader()
	title := cmp.Or(format.Title(s.Title), format.Title(s.Prompt))
	var branches any
	if len(s.Branches) > 0 {
		branches = jsonvalue.Strings(s.Branches)
	}
	about := Object(keyTitle, jsonvalue.Maybe(title), keyAgent, a.Name, keySession, jsonvalue.Maybe(s.ID), keySub, jsonvalue.Maybe(s.Sub), keyParent, jsonvalue.Maybe(s.Parent),
		keyCreated, jsonvalue.Maybe(s.Created), keyCwd, jsonvalue.Maybe(s.Cwd), keyBranches, branches)
	h.UserMetadata = &about
	return h
}

// merged returns a header with the changes of a session between before and now. Values that the
// user changed stay, unless the session changed them, too.
func (a *Agent) merged(h domarkx.Header, before, now Session) domarkx.Header {
	old, about := a.header(before).Meta(), a.header(now).Meta()
	for _, m := range h.Meta().Members() {
		was, _ := old.Get(m.Name)
		is, known := about.Get(m.Name)
		if !known || was.Equal(is) {
			about = about.With(m.Name, m.Value)
		}
	}
	h.UserMetadata = &about
	return h
}

// sessionOf returns the properties that the front matter states for a session of this agent.
func (a *Agent) sessionOf(h domarkx.Header) (Session, bool) {
	about := h.Meta()
	if Text(about, keyAgent) != a.Name {
		return Session{}, false
	}
	return Session{ID: Text(about, keySession), Sub: Text(about, keySub), Parent: Text(about, keyParent), Title: Text(about, keyTitle),
		Created: Text(about, keyCreated), Cwd: Text(about, keyCwd), Branches: Get(about, keyBranches).Texts()}, true
}

// identify returns the identity of a transcript's session, which derives from the agent's own ID.
func (a *Agent) identify(h domarkx.Header) format.Identity {
	s, ok := a.sessionOf(h)
	if !ok {
		return format.Identity{}
	}
	id := format.Identity{SessionID: s.ID, CreatedAt: s.Created}
	if !a.isPart(h) {
		id.Name = a.sessionName(s)
	}
	if s.ID != "" {
		id.ID = identity(s.ID, s.Sub, Text(h.Meta(), keyFork))
	}
	if s.Parent != "" && !a.isPart(h) {
		id.Parent, id.Suffix = identity(s.Parent, "", ""), subSuffix(cmp.Or(s.Sub, s.ID))
	}
	return id
}

// subLength is how many bytes of a sub-agent's ID are in its name: the last ones, because the end
// is random.
const subLength = 8

// subSuffix returns how the name of a sub-agent's session continues that of its parent.
func subSuffix(id string) string { return ".agent-" + id[max(0, len(id)-subLength):] }

func identity(session, sub, fork string) string {
	return List(Str(session), Str(sub), Str(fork)).JSON()
}

// isPart reports whether a session is an abandoned branch.
func (a *Agent) isPart(h domarkx.Header) bool {
	_, ok := a.sessionOf(h)
	return ok && Has(h.Meta(), keyFork)
}

// maxSlug is the maximum length of the last part of a session's name, in characters.
const maxSlug = 60

// sessionName returns AGENT/YYYY-MM-DD-SLUG: the date (UTC) of the first message, and the title.
func (a *Agent) sessionName(s Session) string {
	day := "undated"
	if t, ok := format.ParseTime(s.Created); ok {
		day = t.UTC().Format("2006-01-02")
	}
	return a.Name + "/" + day + "-" + cmp.Or(Slug(s.Title), "untitled")
}

// Slug converts text to a part of a name: its letters and digits in lower case, with "-" in place
// of all other characters between them.
func Slug(s string) string {
	var b strings.Builder
	n, gap := 0, false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) || r == unicode.ReplacementChar {
			gap = true
			continue
		}
		if gap && n > 0 {
			b.WriteByte('-')
			n++
		}
		if gap = false; n >= maxSlug {
			break
		}
		b.WriteRune(unicode.ToLower(r))
		n++
	}
	return strings.Trim(b.String(), "-")
}
