package transcript

import (
	"slices"

	"github.com/domarkx/domarkx/format/jsonlines"
)

// A ref is a record that is part of a message.
type ref struct {
	jsonlines.Place
	next int32 // index of the next record of the message; -1 for none
}

// A said is a message in the index. It stores nothing that can be read from the records again,
// because a file can be far larger than memory.
type said struct {
	head, tail int32 // its first and last ref
	above      int32 // the message before it; -1 for none
	context    int32 // index in tree.contexts
	role       Kind  // Prompt or Answer
	queued     bool  // see Note.Queued
	dead       bool  // ignored
	seen       bool  // in at least one conversation
	shared     bool  // in several conversations
}

// An end is the end of an abandoned branch: its last message, and the ID of its last record, "" if
// unknown. groups are those of a conversation that other messages replaced. Programs also do that
// to write the same messages again; then no branch was abandoned.
type end struct {
	message int32
	id      string
	groups  map[uint64]int32
}

// A tree holds messages, each with the one before it. The conversation is a path in it.
type tree struct {
	refs     []ref
	messages []said
	last     int32 // the message that the conversation ends with; -1 for none
	ends     []end
	leaf     string // ID of the last record that has one
	contexts []string
}

// join adds a record to a message.
func (t *tree) join(k int32, at jsonlines.Place) {
	if m := &t.messages[k]; t.refs[m.tail].Place != at {
		t.refs = append(t.refs, ref{at, -1})
		t.refs[m.tail].next = int32(len(t.refs)) - 1
		m.tail = t.refs[m.tail].next
	}
}

// onPath reports whether a message is in the current conversation.
func (t *tree) onPath(k int32) bool {
	for i := t.last; i >= k; i = t.messages[i].above {
		if i == k {
			return true
		}
	}
	return false
}

// way returns the messages from the first one to a given one.
func (t *tree) way(end int32) []int32 {
	var path []int32
	for k := end; k >= 0; k = t.messages[k].above {
		if !t.messages[k].dead {
			path = append(path, k)
		}
	}
	slices.Reverse(path)
	return path
}

func (t *tree) mark(path []int32) {
	for _, k := range path {
		m := &t.messages[k]
		m.seen, m.shared = true, m.seen
	}
}

// keepReplaced goes back to the conversation that was replaced last, if nothing is said in its place yet:
// its program is about to write it again. It reports whether it did that.
func (t *tree) keepReplaced() bool {
	if t.last >= 0 {
		return false
	}
	for i := len(t.ends) - 1; t.last < 0 && i >= 0 && t.ends[i].groups != nil; i-- {
		t.last = t.ends[i].message
	}
	return t.last >= 0
}
