package blame

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/events"
)

// A session is the newest snapshot of a session.
type session struct {
	events.Thread
	name    string
	byID    map[domarkx.ID]int
	numbers map[string]int // linked version → its number; nil until needed
}

// origin returns the origin of the lines that event i wrote. The event must not be a person's.
func (t *trace) origin(ctx context.Context, i int) (Origin, error) {
	if known, ok := t.past.origins[i]; ok {
		return known, nil
	}
	e := t.past.events[i]
	if e.gap != nil {
		return Origin{Source: Expired, Message: -1, Date: e.Version.Date, Version: e.Version.ID, Expired: e.gap}, nil
	}
	o, touches, err := t.author(ctx, e)
	if err != nil {
		return o, err
	}
	if len(e.Version.Shared) > 0 {
		if o, err = t.decide(ctx, i, o, touches); err != nil {
			return o, err
		}
	}
	t.past.origins[i] = o
	return o, nil
}

// decide returns the origin of the lines of event i if turns of several sessions overlapped: the
// only session with a call that names the path, and [Unclear] if none or several have one. own is
// the origin in the event's own workspace, and touches reports whether a call there names the path.
func (t *trace) decide(ctx context.Context, i int, own Origin, touches bool) (Origin, error) {
	e := t.past.events[i]
	var named []Origin
	if touches {
		named = append(named, own)
	}
	for _, other := range e.Version.Shared {
		c := t.concurrent(i, other)
		if c < 0 {
			continue
		}
		o, touches, err := t.author(ctx, t.past.events[c])
		if err != nil {
			return own, err
		}
		if touches {
			named = append(named, o)
		}
	}
	if len(named) == 1 {
		return named[0], nil
	}
	return Origin{Source: Unclear, Message: -1, Date: e.Version.Date, Version: e.Version.ID}, nil
}

// concurrent returns the index of the event in which another workspace got the content of event i.
// Without one, it returns that workspace's first event after i, or -1 for none.
func (t *trace) concurrent(i int, workspace string) int {
	e := t.past.events[i]
	for _, c := range t.past.byBlob[e.blob] {
		if f := t.past.events[c]; f.Workspace == workspace && !f.isPerson() {
			return c
		}
	}
	for c := i + 1; c < len(t.past.events); c++ {
		if f := t.past.events[c]; f.Workspace == workspace && !f.isPerson() {
			return c
		}
	}
	return -1
}

// author returns the message whose calls created a version, and reports whether one of these calls
// names the path.
func (t *trace) author(ctx context.Context, e *event) (Origin, bool, error) {
	v := e.Version
	o := Origin{Source: Session, Session: e.Workspace, Message: -1, Date: v.Date, Version: v.ID}
	names := []string{e.Workspace}
	if v.Call != nil {
		o.Session, o.ID = v.Call.Session, v.Call.Message
		names = []string{v.Call.Session, e.Workspace}
	}
	users, err := t.s.usersOf(ctx, e.Workspace)
	if err != nil {
		return o, false, err
	}
	for _, name := range append(names, users...) {
		s, err := t.s.session(ctx, name)
		if err != nil {
			return o, false, err
		}
		if s == nil {
			continue
		}
		k, ok := s.MessageOf(v.ID)
		first := k
		if v.Call != nil {
			k, ok = s.byID[v.Call.Message]
			first = k
		} else {
			if !ok && v.Observed != nil {
				if k, ok, err = t.linkedAfter(ctx, s, v); err != nil {
					return o, false, err
				}
			}
			if ok {
				first, k = s.Span(v, k)
			}
		}
		if !ok {
			continue
		}
		o.Session = s.name
		touches, err := t.choose(ctx, s, first, k, &o)
		return o, touches, err
	}
	return o, false, nil
}

// linkedAfter returns the message that links the next linked version after an observed version that
// no message links. If one message made several batches of calls, only the version of its last
// batch is linked.
func (t *trace) linkedAfter(ctx context.Context, s *session, v domarkx.Version) (int, bool, error) {
	if s.numbers == nil {
		s.numbers = map[string]int{}
		for id := range s.Versions() {
			linked, err := t.s.m.store.VersionCommit(id)
			if err != nil {
				return 0, false, err
			}
			s.numbers[id] = linked.Number
		}
	}
	best := ""
	for id, number := range s.numbers {
		if number > v.Number && (best == "" || number < s.numbers[best]) {
			best = id
		}
	}
	k, ok := s.MessageOf(best)
	return k, ok, nil
}

// choose completes an origin with the message among first to last that wrote the path: the last one
// with a call that names the path, or else message last. It reports whether a call names the path.
func (t *trace) choose(ctx context.Context, s *session, first, last int, o *Origin) (bool, error) {
	touches := false
	for k := last; k >= first && !touches; k-- {
		msg, err := view.LoadMessage(ctx, t.s.m.store, s.Entries[k])
		if err != nil {
			return false, err
		}
		if touches = touchesPath(msg, t.path); !touches && k != last {
			continue
		}
		o.Message, o.ID, o.Model = k, s.Entries[k].ID, modelOf(msg)
	}
	return touches, nil
}

func modelOf(msg domarkx.Message) string {
	if msg.Metadata == nil {
		return ""
	}
	model, _ := msg.Metadata.Get("model")
	return model.Text()
}

// touchesPath reports whether a message has a call that names a path and does not only read. at is
// relative to the top of the work tree.
func touchesPath(msg domarkx.Message, at string) bool {
	for _, b := range msg.Content {
		if b.Type != domarkx.CodeBlock || b.Language != toolcall.Language {
			continue
		}
		call, err := toolcall.Parse(b.Text)
		if err == nil && !onlyReads(call.Tool) && names(call.Arguments, at, 0) {
			return true
		}
	}
	return false
}

// onlyReads reports whether a tool only reads, judged by its name.
func onlyReads(tool string) bool {
	return slices.ContainsFunc([]string{"read", "view", "grep", "glob", "search", "list", "ls", "fetch", "todo"}, func(word string) bool {
		return strings.HasPrefix(strings.ToLower(tool), word)
	})
}

// maxNames is the maximum nesting of arguments that are searched for paths.
const maxNames = 16

// names reports whether a string in a call's arguments names the path at.
func names(v jsonvalue.Value, at string, depth int) bool {
	if depth > maxNames {
		return false
	}
	if v.Kind() == jsonvalue.String {
		return namesPath(v.Text(), at)
	}
	return slices.ContainsFunc(v.Items(), func(item jsonvalue.Value) bool { return names(item, at, depth+1) }) ||
		slices.ContainsFunc(v.Members(), func(m jsonvalue.Member) bool { return names(m.Value, at, depth+1) })
}

// namesPath reports whether a text contains a path: relative to the work tree, absolute, or without
// its first directories.
func namesPath(text, at string) bool {
	base := path.Base(at)
	for rest := text; ; {
		i := strings.Index(rest, base)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(base):]
		rest = rest[i+1:]
		if after != "" && isNamed(after[0]) {
			continue
		}
		start := strings.LastIndexFunc(before, func(r rune) bool { return r > 127 || !isNamed(byte(r)) && r != '/' }) + 1
		named := strings.TrimPrefix(before[start:]+base, "./")
		if named == at || strings.HasSuffix(named, "/"+at) || strings.HasSuffix(at, "/"+named) {
			return true
		}
	}
}

func isNamed(c byte) bool {
	return c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}
