package search

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/find/search/fts5"
)

// Sets of columns of the full-text index.
const (
	textColumns = 1<<0 | 1<<1
	partsColumn = 1 << 2
	allColumns  = textColumns | partsColumn
)

// columnWeight is how much a word in a column counts. Words in calls and results say less about the subject of a
// message.
func columnWeight(column int) float32 { return [wordsColumns]float32{2, 1, 0.5}[column] }

// An occurrence is a message that contains a term, with the number of times, each multiplied with the weight of its
// column.
type occurrence struct {
	message uint32
	weight  float32
}

// A lister returns the messages that contain terms.
type lister struct {
	words    *fts5.Reader
	analyzer *analyzer
	messages int       // higher than each number of a message
	weights  []float32 // memory for prefix, by message; all are zero between calls
}

// list returns the messages that contain a term, in ascending order. It looks for a word as it is, and for an
// identifier also among the parts of others: getUser is in getUserByID.
func (l *lister) list(t term) ([]occurrence, error) {
	whole := t.phrase || strings.IndexFunc(t.text, isCJK) >= 0
	columns := allColumns
	if whole {
		columns = textColumns
	}
	all, err := l.phrase(l.analyzer.query(t.text), t.prefix, columns)
	if err != nil || whole {
		return all, err
	}
	parts := identifierParts(t.text)
	if parts == "" {
		return all, nil
	}
	more, err := l.phrase([]byte(parts), t.prefix, partsColumn)
	return union(all, more), err
}

// union returns the messages in either of two lists.
func union(a, b []occurrence) []occurrence {
	if len(a) == 0 {
		return b
	}
	all := make([]occurrence, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].message < b[0].message:
			all, a = append(all, a[0]), a[1:]
		case a[0].message > b[0].message:
			all, b = append(all, b[0]), b[1:]
		default:
			all = append(all, occurrence{a[0].message, a[0].weight + b[0].weight})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// phrase returns the messages that contain the words of a text in succession, in one of the given columns. If prefix is
// set, the last word may be the beginning of a word.
func (l *lister) phrase(text []byte, prefix bool, columns int) ([]occurrence, error) {
	words, err := l.words.Words(text)
	switch {
	case err != nil || len(words) == 0:
		return nil, err
	case len(words) == 1 && prefix:
		return l.prefix(words[0], columns)
	case len(words) == 1:
		return l.word(words[0], columns)
	}
	var all []occurrence
	if !prefix {
		err := l.sideBySide(words, func(message uint32, starts []fts5.Position) {
			if w := weightOf(starts, columns); w > 0 {
				all = append(all, occurrence{message, w})
			}
		})
		return all, err
	}
	last := len(words) - 1
	next := map[uint32][]fts5.Position{} // where the last word must be
	err = l.sideBySide(words[:last], func(message uint32, starts []fts5.Position) {
		at := slices.Clone(starts)
		for i := range at {
			at[i] += fts5.Position(last)
		}
		next[message] = at
	})
	if err != nil || len(next) == 0 {
		return nil, err
	}
	var at []fts5.Position
	return l.collect(words[last], func(message uint32, positions fts5.Positions) float32 {
		want := next[message]
		if want == nil {
			return 0
		}
		at = positions.Append(at[:0])
		at = slices.DeleteFunc(at, func(p fts5.Position) bool { _, ok := slices.BinarySearch(want, p); return !ok })
		return weightOf(at, columns)
	})
}

// weightOf returns the sum of the weights of positions in the given columns.
func weightOf(positions []fts5.Position, columns int) (weight float32) {
	for _, p := range positions {
		if c := p.Column(); columns>>c&1 != 0 {
			weight += columnWeight(c)
		}
	}
	return weight
}

// columnWeights returns the weights of the given columns, and zeros for the others.
func columnWeights(columns int) (weights [fts5.MaxColumns]float32) {
	for c := range wordsColumns {
		if columns>>c&1 != 0 {
			weights[c] = columnWeight(c)
		}
	}
	return weights
}

// number returns the number of a message for its row in the full-text index, and whether the message exists.
func (l *lister) number(row int64) (uint32, bool) { return uint32(row), row < int64(l.messages) }

// word returns the messages that contain a word in one of the given columns.
func (l *lister) word(word string, columns int) (all []occurrence, err error) {
	weights := columnWeights(columns)
	c, err := l.words.Word([]byte(word))
	if err != nil {
		return nil, err
	}
	for {
		more, err := c.Next()
		if err != nil || !more {
			return all, err
		}
		if message, ok := l.number(c.Row); ok {
			if w := c.Positions.Weight(&weights); w > 0 {
				all = append(all, occurrence{message, w})
			}
		}
	}
}

// prefix returns the messages that contain a word with a prefix in one of the given columns.
func (l *lister) prefix(prefix string, columns int) ([]occurrence, error) {
	weights := columnWeights(columns)
	return l.collect(prefix, func(_ uint32, positions fts5.Positions) float32 { return positions.Weight(&weights) })
}

// collect returns the messages that contain words with a prefix, with the sums of their weights, unless these are zero.
func (l *lister) collect(prefix string, weight func(message uint32, positions fts5.Positions) float32) ([]occurrence, error) {
	if l.weights == nil {
		l.weights = make([]float32, l.messages)
	}
	err := l.words.Prefix([]byte(prefix), func(row int64, positions fts5.Positions) {
		if message, ok := l.number(row); ok {
			l.weights[message] += weight(message, positions)
		}
	})
	var all []occurrence
	for message, w := range l.weights {
		if w > 0 {
			all = append(all, occurrence{uint32(message), w})
		}
	}
	clear(l.weights)
	return all, err
}

// sideBySide calls each for the messages that contain words in succession, with the positions at which the words begin.
func (l *lister) sideBySide(words []string, each func(message uint32, starts []fts5.Position)) error {
	cursors := make([]*fts5.Cursor, len(words))
	for i, word := range words {
		var err error
		if cursors[i], err = l.words.Word([]byte(word)); err != nil {
			return err
		}
	}
	var starts, at []fts5.Position
	for row := int64(1); ; row++ {
		for i := 0; i < len(cursors); { // move all cursors to the next row that contains all words
			c := cursors[i]
			for c.Row < row {
				if more, err := c.Next(); err != nil || !more {
					return err
				}
			}
			if i++; c.Row > row {
				row = c.Row
				if i > 1 {
					i = 0
				}
			}
		}
		starts = cursors[0].Positions.Append(starts[:0])
		for i := 1; i < len(cursors) && len(starts) > 0; i++ {
			at = cursors[i].Positions.Append(at[:0])
			starts = before(starts, at, fts5.Position(i))
		}
		if message, ok := l.number(row); ok && len(starts) > 0 {
			each(message, starts)
		}
	}
}

// before returns the starts, in ascending order, that are exactly a distance before one of the positions at.
func before(starts, at []fts5.Position, distance fts5.Position) []fts5.Position {
	kept := starts[:0]
	for _, s := range starts {
		for len(at) > 0 && at[0] < s+distance {
			at = at[1:]
		}
		if len(at) > 0 && at[0] == s+distance {
			kept = append(kept, s)
		}
	}
	return kept
}
