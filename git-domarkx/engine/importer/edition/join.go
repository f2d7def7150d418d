package edition

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A join consists of the base of a document, and of those messages of the session's newest snapshot that the document
// contains but the base does not. These messages keep their ids.
type join struct {
	base, tip *view.View
	inBase    []int         // by message of the document: the index of the message in the base, or -1
	doc       []domarkx.Key // keys of the document's messages (see [jsonKey])
	shown     *shown        // the newest snapshot, as an export shows it

	// What make sets.
	state *domarkx.State
	links []string    // workspace versions to which the messages from the newest snapshot link
	at    []int       // index of each message of the base in the join
	taken map[int]int // index in the join of each message of the document that is from the newest snapshot
}

// make makes the join. It returns false if the document contains no message of the newest snapshot that the base does
// not have.
func (j *join) make() bool {
	index := map[domarkx.ID]int{}
	for i := range j.base.Live.Len() {
		if id := j.base.Live.At(i).ID; !domarkx.InConflict(j.base.Live, i) {
			index[id] = i
		}
	}
	inBase := func(t int) bool {
		e := j.tip.Live.At(t)
		i, ok := index[e.ID]
		return ok && j.base.Live.At(i).Rev == e.Rev
	}
	taken := map[int]int{} // by message of the newest snapshot: the index of the message in the document
	for d, s := range domarkx.Align(j.tipKeys(index, inBase), j.docKeys(), neverAlike).Match {
		if s < 0 || j.inBase[d] >= 0 {
			continue
		}
		if t := j.shown.of[s]; t >= 0 && !inBase(t) && !domarkx.InConflict(j.tip.Live, t) {
			taken[t] = d
		}
	}
	if len(taken) > 0 {
		j.merge(index, taken)
	}
	return len(taken) > 0
}

// tipKeys returns the keys of the messages of the newest snapshot, as an export shows them. A message that is also in
// the base gets the key of the base's message.
func (j *join) tipKeys(index map[domarkx.ID]int, inBase func(t int) bool) []domarkx.Key {
	keys := slices.Clone(j.shown.keys)
	for s, t := range j.shown.of {
		if t >= 0 && inBase(t) {
			keys[s] = baseKey(index[j.tip.Live.At(t).ID])
		}
	}
	return keys
}

func (j *join) docKeys() []domarkx.Key {
	keys := slices.Clone(j.doc)
	for d, i := range j.inBase {
		if i >= 0 {
			keys[d] = baseKey(i)
		}
	}
	return keys
}

func baseKey(i int) domarkx.Key { return sha256.Sum256(fmt.Appendf(nil, "message %d of the base", i)) }

// merge inserts the messages from the newest snapshot into the base, in the order of that snapshot.
func (j *join) merge(index map[domarkx.ID]int, taken map[int]int) {
	j.state, j.at, j.taken = &domarkx.State{Headers: j.base.Headers}, make([]int, j.base.Live.Len()), map[int]int{}
	thread := &j.state.Thread
	next := 0
	through := func(end int) {
		for ; next < end; next++ {
			j.at[next] = len(thread.Live)
			thread.Live = append(thread.Live, j.base.Live.At(next))
		}
	}
	for t := range j.tip.Live.Len() {
		e := j.tip.Live.At(t)
		i, ok := index[e.ID]
		if ok && i >= next {
			through(i + 1)
		}
		d, isTaken := taken[t]
		switch {
		case !isTaken:
			continue
		case ok:
			thread.Live[j.at[i]] = e
			j.taken[d] = j.at[i]
		default:
			j.taken[d] = len(thread.Live)
			thread.Live = append(thread.Live, e)
		}
		if e.Link != "" {
			j.links = append(j.links, e.Link)
		}
	}
	through(len(j.at))
	alive := map[domarkx.ID]bool{}
	for _, e := range thread.Live {
		alive[e.ID] = true
	}
	for _, d := range j.base.Dead {
		if !alive[d.ID] {
			thread.Dead = append(thread.Dead, d)
		}
	}
	slices.Sort(j.links)
	j.links = slices.Compact(j.links)
}

// storedShown returns what an export of a snapshot as Markdown shows: all of it.
func storedShown(ctx context.Context, v *view.View) (*shown, error) {
	s := &shown{keys: make([]domarkx.Key, v.Live.Len()), of: make([]int, v.Live.Len())}
	var err error
	if s.header, err = v.Header(ctx); err != nil {
		return nil, err
	}
	for k := range s.keys {
		msg, err := view.LoadMessage(ctx, v.Blobs, v.Live.At(k))
		if err != nil {
			return nil, err
		}
		s.keys[k], s.of[k] = edit.JSONKey(msg.Value()), k
	}
	return s, nil
}
