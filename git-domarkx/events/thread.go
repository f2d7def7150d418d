package events

import "github.com/domarkx/domarkx/format/domarkx"

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
