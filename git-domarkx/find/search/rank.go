package search

import (
	"fmt"
	"math"
	"slices"
)

// rank returns the messages that match one of several groups, the best first: those with the highest score, and of equal ones
// the one that was indexed last. Scores are those of SQLite's bm25. Words in calls and results count less, because they say
// less about the subject of a message; parts of identifiers count least. If prose is set, messages with a match in their own
// text come before all others.
func (x *Index) rank(groups []group, prose bool) (messages []uint32) {
	sql := "SELECT rowid, bm25(words, 2, 1, 0.5)"
	if prose {
		sql += ", bm25(words, 1, 0, 0)" // 0 without a match in the first column
	}
	sql += " FROM words WHERE words MATCH ?"
	var order []uint64 // own text, score and message, from high to low bits
	for s := range x.db.rows(sql, expression(groups)) {
		message := s.Int(0)
		if message < 0 || message >= math.MaxUint32 {
			x.db.fail(fmt.Errorf("%w: message %d", errBlock, message))
		}
		at := uint64(math.Float32bits(float32(max(0, -s.Float(1)))))<<32 | uint64(message)
		if prose && s.Float(2) < 0 {
			at |= 1 << 63
		}
		order = append(order, at)
	}
	slices.Sort(order)
	for _, at := range slices.Backward(order) {
		messages = append(messages, uint32(at))
	}
	return messages
}
