package edit

import (
	"context"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// These constants bound the search for the messages that removed messages were joined to. Longer
// runs of removed messages and larger texts are not searched.
const (
	maxJoined     = 32
	maxJoinedSize = 16 << 20 // bytes of text in which joined messages are searched
)

// joined returns, for each message of the base, the message of the document that it was joined
// to, or -1 for none. It returns nil if no message was joined.
func (e *Edit) joined(ctx context.Context, base domarkx.Entries, edit domarkx.Edit) ([]int, error) {
	moved := map[int]bool{}
	for _, i := range edit.Moved {
		moved[i] = true
	}
	var into []int
	from, first := 0, 0 // where the gap between matched messages begins, in the base and the document
	for j := 0; j <= len(edit.Match); j++ {
		to := base.Len()
		if j < len(edit.Match) {
			if to = edit.Match[j]; to < 0 {
				continue
			}
		}
		if gap := to - from; gap > 0 && gap <= maxJoined && j-first <= maxJoined {
			near := e.candidates(edit, max(0, first-1), min(j+1, len(edit.Match)))
			for i := from; i < to && len(near) > 0; i++ {
				if moved[i] {
					continue
				}
				k, err := e.joinedTo(ctx, base, edit, i, near)
				if err != nil {
					return nil, err
				}
				if k < 0 {
					continue
				}
				if into == nil {
					into = slices.Repeat([]int{-1}, base.Len())
				}
				into[i] = k
			}
		}
		from, first = to+1, j+1
	}
	return into, nil
}

// candidates returns the messages of the document in [first, end) that the edit wrote.
func (e *Edit) candidates(edit domarkx.Edit, first, end int) []int {
	var near []int
	for j := first; j < end; j++ {
		if !edit.Same[j] && edit.Moved[j] < 0 {
			near = append(near, j)
		}
	}
	return near
}

// joinedTo returns the first candidate that contains the text of message i of the base and did
// not contain it before the edit, or -1 for none.
func (e *Edit) joinedTo(ctx context.Context, base domarkx.Entries, edit domarkx.Edit, i int, candidates []int) (int, error) {
	removed, err := view.LoadMessage(ctx, e.Blobs, base.At(i))
	if err != nil {
		return -1, err
	}
	text := wordsOf(removed)
	if text == "" {
		return -1, nil
	}
	for _, j := range candidates {
		msg, err := e.At(j)
		if err != nil {
			return -1, err
		}
		if !strings.Contains(wordsOf(msg.Message), text) {
			continue
		}
		if was := edit.Match[j]; was >= 0 {
			before, err := view.LoadMessage(ctx, e.Blobs, base.At(was))
			if err != nil {
				return -1, err
			}
			if strings.Contains(wordsOf(before), text) {
				continue
			}
		}
		return j, nil
	}
	return -1, nil
}

// wordsOf returns the words of a message with a space before and after each. It returns "" if the
// message has no words or is too large to search.
func wordsOf(m domarkx.Message) string {
	size := 0
	for _, b := range m.Content {
		size += len(b.Text)
	}
	if size > maxJoinedSize {
		return ""
	}
	var words strings.Builder
	words.Grow(size + 2)
	for _, b := range m.Content {
		for word := range strings.FieldsSeq(b.Text) {
			words.WriteByte(' ')
			words.WriteString(word)
		}
	}
	if words.Len() > 0 {
		words.WriteByte(' ')
	}
	return words.String()
}
