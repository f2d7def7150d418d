package pi

import (
	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
)

// A role is the role of a node on a path through the tree.
type role uint8

const (
	kept   role = iota // no message: kept for the next one
	spoken             // a message of its own
	folded             // a result, in the message of its call
)

// A branch is a path through the tree, with the messages on it.
type branch struct {
	*lines
	lead  []domarkx.Value // entries before the first node, other than those in lines
	path  []int32         // nodes
	roles []role          // of the nodes on the path
	heads []int32         // where on the path the messages are
}

// newBranch finds the messages on a way through the tree. The result of a call is looked
// for from an assistant's message to the next one.
func (l *lines) newBranch(path []int32, lead []domarkx.Value) *branch {
	b := &branch{lines: l, lead: lead, path: path, roles: make([]role, len(path))}
	open := map[uint64]bool{}
	for at, i := range path {
		n := &l.nodes[i]
		switch n.kind {
		case noMessage:
			continue
		case assistantEntry:
			clear(open)
			for _, call := range l.callsOf(i) {
				open[call] = true
			}
		case resultEntry:
			if call := l.callsOf(i)[0]; open[call] {
				delete(open, call)
				b.roles[at] = folded
				continue
			}
		}
		b.roles[at] = spoken
		b.heads = append(b.heads, int32(at))
	}
	return b
}

// Len returns the number of messages.
func (b *branch) Len() int { return len(b.heads) }

// At returns message k.
func (b *branch) At(k int) (domarkx.WrittenMessage, error) {
	d, err := b.draft(int(b.heads[k]))
	if err != nil {
		return domarkx.WrittenMessage{}, err
	}
	return domarkx.WrittenMessage{Message: d.finish(), Origin: "pi " + d.id}, nil
}

// Key identifies message k by its entry and the last entry that can hold one of its results:
// whatever precedes an entry is the same in all branches.
func (b *branch) Key(k int) (uint64, bool) {
	at := int(b.heads[k])
	last := at
	if b.nodes[b.path[at]].kind == assistantEntry {
		for last+1 < len(b.path) && b.nodes[b.path[last+1]].kind != assistantEntry {
			last++
		}
	}
	return uint64(b.path[at])<<32 | uint64(b.path[last]), b.nodes[b.path[last]].shared
}

// End returns where the line ends before the next message's, and so most often the results of
// message k.
func (b *branch) End(k int) int64 {
	last := len(b.path) - 1
	if k+1 < len(b.heads) {
		last = int(b.heads[k+1]) - 1
	}
	n := &b.nodes[b.path[last]]
	return n.start + int64(n.size) + 1
}

// draft builds the message at a position on the path, with the results of its calls.
func (b *branch) draft(at int) (*draft, error) {
	v, err := b.entry(b.path[at])
	if err != nil {
		return nil, err
	}
	kind := b.nodes[b.path[at]].kind
	d := newDraft(kind, v)
	if d.before, err = b.before(at); err != nil || kind != assistantEntry {
		return d, err
	}
	for _, q := range b.resultsOf(at) {
		result, err := b.entry(b.path[q])
		if err != nil {
			return nil, err
		}
		before, err := b.before(q)
		if err != nil {
			return nil, err
		}
		if !d.result(result, before) {
			return nil, b.failed(errChanged)
		}
	}
	return d, nil
}

// resultsOf returns where on the path the results are that belong into the assistant's
// message at a place.
func (b *branch) resultsOf(at int) []int {
	var results []int
	for q := at + 1; q < len(b.path) && b.nodes[b.path[q]].kind != assistantEntry; q++ {
		if b.roles[q] == folded {
			results = append(results, q)
		}
	}
	return results
}

// before returns the entries between a place on the path and the message or result before
// it.
func (b *branch) before(at int) ([]domarkx.Value, error) {
	from := at - 1
	for from >= 0 && b.roles[from] == kept {
		from--
	}
	var entries []domarkx.Value
	node := int32(-1)
	if from >= 0 {
		node = b.path[from]
	} else {
		entries = append(entries, b.lead...)
	}
	for q := from; ; {
		for _, p := range b.behind(node) {
			v, _, err := b.at(p.place, p.piece)
			if err != nil {
				return nil, err
			}
			entries = append(entries, v)
		}
		if q++; q >= at {
			return entries, nil
		}
		node = b.path[q]
		v, err := b.entry(node)
		if err != nil {
			return nil, err
		}
		entries = append(entries, v)
	}
}

// end is metadata that is known only after a conversation's last message.
type end struct {
	about    domarkx.Value // the user_metadata of the session
	calls    []string      // of the last assistant's message, without a result
	answered bool          // the assistant has answered
}

// end determines the end of a branch. about is the metadata so far.
func (b *branch) end(about domarkx.Value, tail string) (end, error) {
	after, err := b.before(len(b.path))
	if err != nil {
		return end{}, err
	}
	if tail != "" {
		after = append(after, transcript.Str(tail))
	}
	if len(after) > 0 {
		about = about.With(keyAfter, domarkx.ArrayValue(after...))
	}
	e := end{about: about}
	for at := len(b.path) - 1; at >= 0; at-- {
		if b.nodes[b.path[at]].kind != assistantEntry {
			continue
		}
		e.answered = true
		d, err := b.draft(at)
		if err != nil {
			return e, err
		}
		waiting := map[string]bool{}
		for _, p := range d.pieces { // the last one with an id counts
			if p.call != "" {
				waiting[p.call] = !p.hasResult
			}
		}
		for _, p := range d.pieces {
			if waiting[p.call] {
				e.calls = append(e.calls, p.call)
			}
		}
		break
	}
	return e, nil
}

// named returns the user_metadata with the name that the session has at the end of the
// path; was is the one that it had before.
func (b *branch) named(about domarkx.Value, was string) (domarkx.Value, error) {
	name := was
	for at := len(b.path) - 1; at >= 0; at-- {
		i := b.path[at]
		if !b.nodes[i].naming {
			continue
		}
		v, err := b.entry(i)
		if err != nil {
			return about, err
		}
		name = transcript.Text(v, keyName)
		break
	}
	if name == "" {
		return about.Without(keySessionName), nil
	}
	return about.With(keySessionName, transcript.Str(name)), nil
}
