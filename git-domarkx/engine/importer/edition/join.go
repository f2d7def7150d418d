package edition

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

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

// An agent that resumes a conversation can begin another file with a copy of some records. Files with one session id are
// therefore parts of one session. A file that is itself rewritten replaces its former content. A session of several files
// is exported from its messages, because no file has all of them.

// unite returns the messages of the base and of a file with another part of the session. Their order is that of
// both, and where those say nothing, that of the dates. isPart is false if the file has all that the base has.
func (mk *making) unite() (places []position, isPart bool, err error) {
	match, texts, err := mk.sameMessages()
	if err != nil {
		return nil, false, err
	}
	next := 0
	through := func(end int, date int64) {
		for ; next < end && mk.before.Live.At(next).Date <= date; next++ {
			places, isPart = append(places, position{next, -1}), true
		}
	}
	ends := following(match, mk.before.Live.Len())
	for j, i := range match {
		if i < 0 {
			msg, err := mk.Edit.At(j)
			if err != nil {
				return nil, false, err
			}
			through(ends[j], msg.Date)
			places = append(places, position{-1, j})
			continue
		}
		through(i, math.MaxInt64)
		p := position{i, j}
		switch texts[j] {
		case newerText:
			p.base = -1
		case shorterText:
			isPart = true
		}
		places, next = append(places, p), i+1
	}
	through(mk.before.Live.Len(), math.MaxInt64)
	return places, isPart, nil
}

// following returns, for each message of a document, the next message of the base that it or a later one equals, or n for
// none.
func following(match []int, n int) []int {
	ends := make([]int, len(match))
	for j := len(match) - 1; j >= 0; j-- {
		if match[j] >= 0 {
			n = match[j]
		}
		ends[j] = n
	}
	return ends
}

// How the text of a message in a document differs from that in the base.
const (
	sameText    = iota // or the message is only in one of them
	shorterText        // it is the beginning of the text in the base
	newerText
)

// sameMessages returns, for each message of the document, the message of the base that was made from the same record, or has the
// same words, or -1, and how its text differs. The indexes ascend.
func (mk *making) sameMessages() (match, texts []int, err error) {
	d, err := mk.distance(mk.base, nil)
	if err != nil {
		return nil, nil, err
	}
	match, texts = d.match, make([]int, len(d.match))
	next, ends := 0, following(match, mk.before.Live.Len()) // next is the first message of the base that is free
	for j, i := range match {
		if i >= 0 {
			next = i + 1
			continue
		}
		msg, err := mk.Edit.At(j)
		if err != nil {
			return nil, nil, err
		}
		for k := next; k < ends[j] && msg.Origin != ""; k++ {
			e := mk.before.Live.At(k)
			if e.ID != edit.OriginID(e.ID.Clock(), e.After, msg.Origin) {
				continue
			}
			was, err := view.LoadMessage(mk.ctx, mk.Store, e)
			if err != nil {
				return nil, nil, err
			}
			match[j], next, texts[j] = k, k+1, newerText
			if begins(was, msg.Message) {
				texts[j] = shorterText
			}
			break
		}
	}
	return match, texts, nil
}

// begins reports whether a message begins with the content of another one, such as a call whose result came later.
func begins(whole, start domarkx.Message) bool {
	if len(start.Content) > len(whole.Content) {
		return false
	}
	for i, b := range start.Content {
		w := whole.Content[i]
		same := w.Text == b.Text || i == len(start.Content)-1 && strings.HasPrefix(w.Text, b.Text)
		if w.Type != b.Type || w.Language != b.Language || !same {
			return false
		}
	}
	return true
}
