package transcript

import (
	"strings"
	"unicode"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// The members of the front matter.
const (
	keyTitle    = "title"
	keyAgent    = "agent"
	keySession  = "session_id"
	keySub      = "agent_id" // of a sub-agent
	keyParent   = "parent"   // the session_id of the session that started it
	keyCreated  = "created_at"
	keyCwd      = "cwd"
	keyBranches = "git_branches"
	keyFork     = "fork" // the id of the message that ends a branch which was left
)

// maxTitle limits a title that is taken from the first prompt, in characters.
const maxTitle = 80

// header returns the front matter of a session.
func (a *Agent) header(s Session) domarkx.Header {
	h := domarkx.NewHeader()
	text := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	title := oneLine(s.Title, maxTitle)
	if title == "" {
		title = oneLine(s.Prompt, maxTitle)
	}
	var branches any
	if len(s.Branches) > 0 {
		items := make([]domarkx.Value, len(s.Branches))
		for i, b := range s.Branches {
			items[i] = Str(b)
		}
		branches = List(items...)
	}
	about := Object(keyTitle, text(title), keyAgent, a.Name, keySession, text(s.ID), keySub, text(s.Sub), keyParent, text(s.Parent),
		keyCreated, text(s.Created), keyCwd, text(s.Cwd), keyBranches, branches)
	h.UserMetadata = &about
	return h
}

// merged returns a header with the changes of the session. Values that the user changed are kept.
func (a *Agent) merged(h domarkx.Header, before, now Session) domarkx.Header {
	old, kept := *a.header(before).UserMetadata, domarkx.ObjectValue()
	if h.UserMetadata != nil {
		kept = *h.UserMetadata
	}
	about := *a.header(now).UserMetadata
	for _, m := range kept.Members() {
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
	if h.UserMetadata == nil || Text(*h.UserMetadata, keyAgent) != a.Name {
		return Session{}, false
	}
	about := *h.UserMetadata
	s := Session{ID: Text(about, keySession), Sub: Text(about, keySub), Parent: Text(about, keyParent), Title: Text(about, keyTitle),
		Created: Text(about, keyCreated), Cwd: Text(about, keyCwd)}
	for _, b := range Get(about, keyBranches).Items() {
		s.Branches = append(s.Branches, b.Text())
	}
	return s, true
}

// identify returns the identity of a transcript's session, based on the agent's own ID.
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
		id.ID = identity(s.ID, s.Sub, Text(*h.UserMetadata, keyFork))
	}
	if s.Parent != "" && !a.isPart(h) {
		name := s.Sub
		if name == "" {
			name = s.ID
		}
		id.Parent, id.Suffix = identity(s.Parent, "", ""), ".agent-"+name[max(0, len(name)-subLength):]
	}
	return id
}

// subLength is the number of bytes of a sub-agent's ID that are used in its name, from the end, where
// the IDs are random.
const subLength = 8

func identity(session, sub, fork string) string {
	return List(Str(session), Str(sub), Str(fork)).JSON()
}

// isPart reports whether a session is a branch that was left.
func (a *Agent) isPart(h domarkx.Header) bool {
	_, ok := a.sessionOf(h)
	return ok && Has(*h.UserMetadata, keyFork)
}

// maxSlug limits the last part of a session's name, in characters.
const maxSlug = 60

// sessionName returns AGENT/YYYY-MM-DD-SLUG: the date (UTC) of the first message, and the title.
func (a *Agent) sessionName(s Session) string {
	day := "undated"
	if t, ok := format.ParseTime(s.Created); ok {
		day = t.UTC().Format("2006-01-02")
	}
	slug := Slug(s.Title)
	if slug == "" {
		slug = "untitled"
	}
	return a.Name + "/" + day + "-" + slug
}

// Slug converts text to a part of a name: its letters and digits in lower case, with "-" in place of
// anything between them.
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

// oneLine returns text without line ends, of at most that many characters.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if runes := []rune(s); len(runes) > most {
		s = strings.TrimSpace(string(runes[:most-1])) + "…"
	}
	return s
}
