// Package events reads the versions of workspaces as events: who made the changes that a version stores, in which order the
// events of several workspaces happened, and which messages they belong to. Blame, links and rewind read all of it here.
package events

import (
	"cmp"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// The operations of versions of a work tree in which a coding agent works. Each is also the event after which it is taken.
const (
	Prompt = "prompt" // the user submitted a prompt
	Batch  = "batch"  // calls of a message ended
	Turn   = "turn"   // a turn ended
	Rewind = "rewind" // the files were set back
)

// An Author is who made the changes that a version stores.
type Author int

// The authors of versions.
const (
	Person Author = iota // no call made them
	Calls                // calls of a message that is known by its id or by theirs
	Agent                // an agent, in a message that is known only by the time
)

// AuthorOf returns who made the changes of a version.
func AuthorOf(v domarkx.Version) Author {
	switch v.Operation {
	case "create", "setup", "change", "merge", Prompt, Rewind:
		return Person
	case Batch, Turn:
		if v.Operation == Turn || v.Observed == nil || len(v.Observed.Calls) == 0 {
			return Agent
		}
	}
	return Calls
}

// IsMixed reports whether a person's version can contain changes by an agent: of another session whose turn overlapped, or of
// a call that began before the files were read.
func IsMixed(v domarkx.Version) bool { return len(v.Shared) > 0 || v.Late }

// An Event is a version and the workspace in which it was found.
type Event struct {
	Version   domarkx.Version // may have no Resources
	Workspace string
}

// Sort sorts items by the dates of their events, and those of one workspace by their numbers. Dates have a resolution of a
// second. In one second, the events of agents come as early as their workspaces allow, because a person's version of another
// workspace may include their changes.
func Sort[T any](items []T, of func(T) Event) {
	type place struct {
		date      int64
		workspace string
	}
	last := map[place]int{} // the number of the last event of an agent in a workspace and a second
	for _, item := range items {
		if e := of(item); AuthorOf(e.Version) != Person {
			at := place{e.Version.Date, e.Workspace}
			last[at] = max(last[at], e.Version.Number)
		}
	}
	after := func(e Event) int { // 1 for what persons left after the last event of an agent
		if e.Version.Number > last[place{e.Version.Date, e.Workspace}] {
			return 1
		}
		return 0
	}
	slices.SortFunc(items, func(a, b T) int {
		e, f := of(a), of(b)
		v, w := e.Version, f.Version
		return cmp.Or(cmp.Compare(v.Date, w.Date), cmp.Compare(after(e), after(f)), cmp.Compare(v.Number, w.Number), strings.Compare(v.ID, w.ID))
	})
}

// A Thread maps the versions of a workspace to the messages of a session that belong to them.
type Thread struct {
	Entries []domarkx.Entry
	first   map[string]int
}

// NewThread returns the thread of some messages.
func NewThread(entries []domarkx.Entry) Thread {
	t := Thread{entries, map[string]int{}}
	for k, e := range entries {
		if _, ok := t.first[e.Link]; !ok && e.Link != "" {
			t.first[e.Link] = k
		}
	}
	return t
}

// MessageOf returns the message that a version belongs to: the first one that links it. Later messages link it because
// nothing changed after them.
func (t Thread) MessageOf(version string) (int, bool) {
	k, ok := t.first[version]
	return k, ok
}

// Versions maps the linked versions to their messages. The caller must not change it.
func (t Thread) Versions() map[string]int { return t.first }

// Span returns the first and the last message whose calls can have created a version that belongs to message k. The first one
// comes after the previous message with a version of its own, or after the user's last message. A version that is linked by its
// time may have been linked before the last message of its turn was recorded.
func (t Thread) Span(v domarkx.Version, k int) (first, last int) {
	first, last = k, k
	for first > 0 && t.Entries[first-1].Role == domarkx.Assistant {
		if own, ok := t.first[t.Entries[first-1].Link]; ok && own == first-1 {
			break
		}
		first--
	}
	if v.Observed == nil || len(v.Observed.Calls) > 0 {
		return first, last
	}
	for last+1 < len(t.Entries) {
		if e := t.Entries[last+1]; e.Role != domarkx.Assistant || e.Link != v.ID || e.Date > v.Date {
			break
		}
		last++
	}
	return first, last
}
