package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// A row is a hit with its place in the index.
type row struct {
	spot
	Hit
}

// rows returns the hits at some spots, without what is in their messages.
func (p *places) rows(spots []spot) []row {
	rows := make([]row, len(spots))
	for i, at := range spots {
		rows[i] = row{at, Hit{Session: p.names[at.session], K: int(at.k), Snapshot: p.snapshots[at.snapshot], Date: at.date}}
		rows[i].Commit = cmp.Or(rows[i].Snapshot, p.tips[at.session])
	}
	return rows
}

func (p *places) describe(ctx context.Context, spots []spot, m *matching) ([]row, error) {
	rows := p.rows(spots)
	order := make([]*row, len(rows)) // sorted by message, so that each block is decoded once
	for i := range rows {
		r := &rows[i]
		for s := range p.db.rows("SELECT role, model FROM message WHERE id = ?", int64(r.message)) {
			r.Role, r.Model = roleOf(s.Int(0)), p.models[s.Int(1)]
		}
		order[i] = r
	}
	slices.SortFunc(order, func(a, b *row) int { return cmp.Compare(a.message, b.message) })
	r := readBlocks(ctx, m, (*snippets).describe)
	p.blocksOf(r, order)
	return rows, r.end()
}

// blocksOf reads the blocks that contain hits. The hits must be sorted by message.
func (p *places) blocksOf(r *reading, rows []*row) {
	for len(rows) > 0 {
		message := int64(rows[0].message)
		next := p.db.number("SELECT first FROM block WHERE first > ? ORDER BY first LIMIT 1", message) // 0 after the last block
		n := 1
		for n < len(rows) && (next == 0 || int64(rows[n].message) < next) {
			n++
		}
		r.block(p.db, message, rows[:n])
		rows = rows[n:]
	}
}

func (s *snippets) describe(b *block, rows []*row) error {
	for id, text := range b.messages() {
		if len(rows) == 0 || int64(rows[0].message) != id {
			continue
		}
		s.make(text)
		for snippet, matches := string(s.line), slices.Clone(s.matches); len(rows) > 0 && int64(rows[0].message) == id; rows = rows[1:] {
			rows[0].Snippet, rows[0].Matches = snippet, matches
		}
	}
	if len(rows) > 0 {
		return fmt.Errorf("%w: message %d is missing", errBlock, rows[0].message)
	}
	return nil
}
