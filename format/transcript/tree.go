package transcript

import (
	"hash/maphash"
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

// A named finds messages by what their records name. Only the first reading of a file needs it.
type named struct {
	seed   maphash.Seed
	groups map[uint64]int32           // the message of each group
	calls  map[uint64]int32           // the message of each call without a result
	once   map[uint64]bool            // digests of records with Once
	after  map[uint64]int32           // the last prompt with each Note.After
	behind map[uint64]int32           // the last message of the conversation at each record, by the record's ID
	queued map[string]int32           // queued prompts by their text
	ahead  map[uint64]jsonlines.Place // the last record of kind About of each group without a message
}

func newNamed() named {
	return named{seed: maphash.MakeSeed(), groups: map[uint64]int32{}, calls: map[uint64]int32{}, once: map[uint64]bool{}, after: map[uint64]int32{},
		behind: map[uint64]int32{}, queued: map[string]int32{}, ahead: map[uint64]jsonlines.Place{}}
}

// forkBudget is how many messages all branches may have together, which bounds the cost of hostile
// transcripts. maxForks is the maximum number of branches that become sessions.
const (
	forkBudget = 100_000
	maxForks   = 1000
)

// paths returns the messages of the transcript's own conversation, and the abandoned branches.
func (x *index) paths() (main []int32, forks []end) {
	main = x.way(x.last)
	x.mark(main)
	inner := map[int32]bool{} // messages that others follow
	for k := 0; k < len(x.messages) && len(x.ends) > 0; k++ {
		if !x.messages[k].dead {
			inner[x.messages[k].above] = true
		}
	}
	budget := max(forkBudget, 8*len(x.messages))
	left := 0
	for _, e := range x.ends {
		for e.message >= 0 && x.messages[e.message].dead {
			e.message = x.messages[e.message].above
		}
		if e.message < 0 || x.messages[e.message].seen || inner[e.message] || e.groups != nil && x.isBack(e.groups) {
			continue
		}
		if budget < 0 || len(forks) == maxForks {
			left++
			continue
		}
		path := x.way(e.message)
		budget -= len(path)
		x.mark(path)
		forks = append(forks, e)
	}
	if left > 0 {
		x.Report(0, "has more branches than become sessions; they are kept in the original")
	}
	return main, forks
}

// isBack reports whether the messages of all groups are there again.
func (x *index) isBack(groups map[uint64]int32) bool {
	for key, k := range groups {
		if _, ok := x.groups[key]; !ok && !x.messages[k].dead {
			return false
		}
	}
	return true
}
