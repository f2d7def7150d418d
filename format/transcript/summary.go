package transcript

import (
	"iter"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
)

// maxHistory is the maximum length in bytes of the text of a session in a new transcript, if a
// summary can replace older messages. A model with a window of 200,000 tokens can hold about as
// much text beside the prompts and tools of its agent.
const maxHistory = 500_000

// keyCompacts is the member of message_metadata of a summary that chat made: the id of the last
// message that the summary replaces.
const keyCompacts = "compacts"

// KeySummary is the member of message_metadata that marks a summary which an agent made of all
// messages before it.
const KeySummary = "compact_summary"

// A part is the portion of a session that is written to a transcript: all messages, or a summary
// and the messages that it does not replace.
type part struct {
	summary int // index of the summary; -1 for none
	from    int // index of the first message after those that the summary replaces
}

// indexes yields the indexes of the messages in the order in which they are written.
func (p part) indexes(count int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if p.summary >= 0 && !yield(p.summary) {
			return
		}
		for k := p.from; k < count; k++ {
			if k != p.summary && !yield(k) {
				return
			}
		}
	}
}

// partOf returns the whole session, or if that is too long, its last summary and the messages that
// the summary does not replace.
func partOf(messages format.Messages) (part, error) {
	all, last, size, compacts := part{summary: -1}, part{summary: -1}, 0, ""
	for k := range messages.Len() {
		m, err := messages.At(k)
		if err != nil {
			return all, err
		}
		for _, b := range m.Content {
			size += len(b.Text)
		}
		if m.Role != domarkx.User {
			continue
		}
		id := Text(m.Meta(), keyCompacts)
		if id != "" || Get(m.Meta(), KeySummary).IsTrue() {
			last, compacts = part{k, k}, id
		}
	}
	if size <= maxHistory || last.summary <= 0 {
		return all, nil
	}
	for k := last.summary - 1; k >= 0 && compacts != ""; k-- {
		m, err := messages.At(k)
		if err != nil {
			return all, err
		}
		if m.ID.String() == compacts {
			last.from = k + 1
			break
		}
	}
	return last, nil
}
