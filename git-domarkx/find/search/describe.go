package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A row is a hit in a form that takes less memory.
type row struct {
	spot
	role  uint8
	model uint32 // number of the model's facet
	text  string // snippet and matches, as pack returns them
}

// hit converts a row to a Hit.
func (r *row) hit(p *places) Hit {
	h := Hit{Session: p.names[r.session], K: int(r.k), Snapshot: p.snapshots[r.snapshot], Date: r.date, Role: roleOf(int64(r.role)), Model: p.models[r.model]}
	h.Commit = cmp.Or(h.Snapshot, p.tips[r.session])
	h.Snippet, h.Matches = unpack(r.text)
	return h
}

// unpack is the inverse of pack: it returns a snippet and its matches.
func unpack(packed string) (snippet string, matches [][2]int) {
	rest := []byte(packed)
	number := func() int {
		n, size := binary.Uvarint(rest)
		rest = rest[size:]
		return int(n)
	}
	size := number()
	snippet, rest = string(rest[:size]), rest[size:]
	last := 0
	for len(rest) > 0 {
		start := last + number()
		last = start + number()
		matches = append(matches, [2]int{start, last})
	}
	return snippet, matches
}

// describe sets role, model and snippet of hits.
func (p *places) describe(ctx context.Context, rows []row, m *matching) error {
	order := make([]*row, len(rows)) // sorted by message, so that each block is decoded once
	for i := range order {
		order[i] = &rows[i]
	}
	slices.SortFunc(order, func(a, b *row) int { return cmp.Compare(a.message, b.message) })
	if err := p.attributes(order); err != nil {
		return err
	}
	order = slices.DeleteFunc(order, func(r *row) bool { return r.text != "" })
	r := readBlocks(ctx, m, (*snippets).addTo)
	err := p.blocksOf(r, order)
	return cmp.Or(err, r.end())
}

// manyRows is the number of hits above which listing all blocks takes less time than looking for the block of each hit.
const manyRows = 500

// blocksOf reads the blocks that contain hits. The hits must be sorted by message.
func (p *places) blocksOf(r *reading, rows []*row) error {
	var firsts []int64 // first messages of all blocks, from the block of the last hit on; nil if they are not listed
	var err error
	if len(rows) >= manyRows {
		if firsts, err = p.db.mayMatch(&matching{}); err != nil {
			return err
		}
	}
	firstOf := func(message uint32) (int64, error) { // first message of the block that contains a message
		if firsts == nil {
			return p.db.number("SELECT first FROM block WHERE first <= ? ORDER BY first DESC LIMIT 1", int64(message))
		}
		for len(firsts) > 1 && firsts[1] <= int64(message) {
			firsts = firsts[1:]
		}
		return firsts[0], nil
	}
	first, start := int64(0), 0
	for i := 0; i <= len(rows); i++ {
		next := int64(-1)
		if i < len(rows) {
			if next, err = firstOf(rows[i].message); err != nil {
				return err
			}
		}
		if i > start && next != first {
			if err := r.block(p.db, first, rows[start:i]); err != nil {
				return err
			}
			start = i
		}
		first = next
	}
	return nil
}

// attributes sets role and model of hits, which must be sorted by message.
func (p *places) attributes(rows []*row) error {
	all := rows
	for len(rows) > 0 {
		// The messages of many hits have numbers close to each other. So one query reads all of them up to the next
		// gap.
		last := 1
		for last < len(rows) && rows[last].message-rows[last-1].message < nearMessages {
			last++
		}
		some := rows[:last]
		rows = rows[last:]
		err := p.db.query("SELECT id, role, model FROM message WHERE id BETWEEN ? AND ?", func(s *sqlite3.Stmt) error {
			id, role, model := s.Int(0), s.Int(1), s.Int(2)
			for len(some) > 0 && int64(some[0].message) <= id {
				if int64(some[0].message) == id {
					some[0].role, some[0].model = uint8(role), uint32(model)
				}
				some = some[1:]
			}
			return nil
		}, int64(some[0].message), int64(some[last-1].message))
		if err != nil {
			return err
		}
	}
	return p.nameModels(all)
}

// nearMessages is the number of messages that are read in less time than one message is found.
const nearMessages = 4

// nameModels looks up the names of the models of hits, unless they are known.
func (p *places) nameModels(rows []*row) error {
	for _, r := range rows {
		if _, ok := p.models[r.model]; ok {
			continue
		}
		p.models[r.model] = ""
		err := p.db.query("SELECT name FROM facet WHERE id = ?", func(s *sqlite3.Stmt) error {
			p.models[r.model], _ = s.Column(0).(string)
			return nil
		}, int64(r.model))
		if err != nil {
			return err
		}
	}
	return nil
}

// addTo sets the snippets of the hits in the block.
func (s *snippets) addTo(rows []*row) error {
	at, i := 0, 0
	for j, r := range rows {
		if j > 0 && rows[j-1].message == r.message {
			r.text = rows[j-1].text
			continue
		}
		for ; i < len(s.block.ids) && s.block.ids[i] < int64(r.message); i++ {
			at += s.block.sizes[i]
		}
		if i == len(s.block.ids) || s.block.ids[i] != int64(r.message) {
			return fmt.Errorf("%w: message %d is missing", errBlock, r.message)
		}
		r.text = s.pack(s.block.texts[at : at+s.block.sizes[i]])
	}
	return nil
}

// pack returns the snippet of a text and its matches as one string: the size of the snippet as a varint, the snippet,
// and the beginning and end of each match, each as its distance from the place before.
func (s *snippets) pack(text []byte) string {
	s.make(text)
	s.packed = append(binary.AppendUvarint(s.packed[:0], uint64(len(s.line))), s.line...)
	last := 0
	for _, m := range s.matches {
		s.packed = binary.AppendUvarint(s.packed, uint64(m[0]-last))
		s.packed = binary.AppendUvarint(s.packed, uint64(m[1]-m[0]))
		last = m[1]
	}
	return string(s.packed)
}
