package edit

import (
	"context"
	"crypto/sha256"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// maxCompared is the number of bytes of a message's text to compare. That is enough to recognize
// a message, and it bounds the cost for very long ones.
const maxCompared = 64 << 10

// maxBags is the number of messages whose words are cached. It exceeds the number of messages
// that [domarkx.Align] compares with each other.
const maxBags = 1024

// similarity compares old messages with new ones by their words.
type similarity struct {
	ctx     context.Context
	edition *Edit
	words   map[int][]uint32 // sorted hashes; old message i is at i, new message j at -1-j
	err     error
}

func (l *similarity) of(old, new int) domarkx.Likeness {
	recast := (l.edition.Base.Live.At(old).Role == domarkx.User) != l.edition.Scanned[new].isUser
	a, b := l.bag(old), l.bag(-1-new)
	alike := 4*min(len(a), len(b)) >= len(a)+len(b) && 4*shared(a, b) >= len(a)+len(b) // at least half of the words
	switch {
	case recast && alike && len(a) > 0:
		return domarkx.Recast
	case recast:
		return domarkx.Unlike
	case alike:
		return domarkx.Alike
	}
	return domarkx.Possible
}

// shared returns the number of common elements of two sorted lists.
func shared(a, b []uint32) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}

func (l *similarity) bag(at int) []uint32 {
	if bag, ok := l.words[at]; ok {
		return bag
	}
	var msg domarkx.Message
	var err error
	if at < 0 {
		var is domarkx.WrittenMessage
		is, err = l.edition.At(-1 - at)
		msg = is.Message
	} else {
		msg, err = view.LoadMessage(l.ctx, l.edition.Blobs, l.edition.Base.Live.At(at))
	}
	if err != nil {
		l.err = err
	}
	bag := []uint32{}
	room := maxCompared
	for _, b := range msg.Content {
		text := b.Text[:min(len(b.Text), room)]
		room -= len(text)
		for word := range strings.FieldsSeq(text) {
			h := fnv.New32a()
			h.Write([]byte(word))
			bag = append(bag, h.Sum32())
		}
	}
	slices.Sort(bag)
	if len(l.words) == maxBags {
		clear(l.words)
	}
	l.words[at] = bag
	return bag
}

// JSONKeys returns the keys of the document's messages; see [JSONKey].
func (e *Edit) JSONKeys() ([]domarkx.Key, error) {
	keys := make([]domarkx.Key, e.Len())
	for j := range keys {
		msg, err := e.At(j)
		if err != nil {
			return nil, err
		}
		keys[j] = JSONKey(msg.Message.Value())
	}
	return keys, nil
}

// JSONKey identifies a JSON value regardless of the order of object members.
func JSONKey(v jsonvalue.Value) domarkx.Key {
	return sha256.Sum256(jsonvalue.Style{Sorted: true}.Append(nil, v))
}
