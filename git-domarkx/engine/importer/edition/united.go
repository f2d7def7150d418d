package edition

import (
	"math"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

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
