package search

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/find/search/fts5"
)

// A ranking is a message with its score. Better messages have higher scores.
type ranking struct {
	message uint32
	score   float32
}

// compareRankings sorts rankings by descending score. Of messages with the same score, the one that was indexed last
// comes first.
func compareRankings(a, b ranking) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.message, a.message))
}

// A ranker finds the messages that match a query by words, and computes their scores (BM25). It uses a few bytes of
// memory for each message of the index.
type ranker struct {
	lister *lister
	codes  []byte       // sizes of the messages (see sizeCode), by message
	norms  [256]float32 // by size code: the factor by which the size of a message lowers its score (BM25)
	count  float64      // number of messages

	matched []uint16  // by message: how many of the group's first terms it contains
	scores  []float32 // by message: its score in the group
}

// The parameters of BM25 (k1 and b): how much further occurrences of a word count, and how much the size of the message
// counts.
const (
	saturation = 1.2
	byLength   = 0.75
)

// rank returns the messages that match one of several groups, in no particular order.
func (x *Index) rank(groups []group) (found []ranking, err error) {
	codes, err := x.db.sizes()
	if err != nil {
		return nil, err
	}
	if len(codes) > math.MaxUint32 {
		return nil, fmt.Errorf("%w: more than %d messages", errBlock, math.MaxUint32)
	}
	words, err := fts5.NewReader(x.db.conn, "words")
	if err != nil {
		return nil, fmt.Errorf("search index: %w", err)
	}
	defer func() {
		if err = errors.Join(err, words.Close()); err != nil {
			err = fmt.Errorf("search index: %w", err)
		}
	}()
	r := &ranker{
		lister: &lister{words: words, analyzer: &analyzer{}, messages: len(codes)},
		codes:  codes, matched: make([]uint16, len(codes)), scores: make([]float32, len(codes)),
	}
	r.measure()
	var total []float32 // best scores of messages in all groups, by message
	for _, g := range groups {
		some, err := r.group(g)
		if err != nil {
			return nil, err
		}
		if len(groups) == 1 {
			return some, nil
		}
		if total == nil {
			total = make([]float32, len(codes))
		}
		for _, f := range some {
			total[f.message] += f.score
		}
		clear(r.matched)
		clear(r.scores)
	}
	for message, score := range total {
		if score > 0 {
			found = append(found, ranking{uint32(message), score})
		}
	}
	return found, nil
}

// measure computes norms from the sizes of all messages.
func (r *ranker) measure() {
	var messages [256]float64
	for _, code := range r.codes {
		messages[code]++
	}
	messages[0] = 0
	total := 0.0
	for code, n := range messages {
		r.count += n
		total += n * codedSize(byte(code))
	}
	average := max(total/max(r.count, 1), 1)
	for code := range r.norms {
		r.norms[code] = float32(saturation * (1 - byLength + byLength*codedSize(byte(code))/average))
	}
}

// group returns the messages that contain all wanted terms of a group and none of the unwanted ones.
func (r *ranker) group(g group) ([]ranking, error) {
	var candidates []occurrence // occurrences of the first wanted term
	for i, t := range g.want {
		list, err := r.lister.list(t)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			candidates = list
		}
		rarity := float32(math.Log1p((r.count - min(float64(len(list)), r.count) + 0.5) / (float64(len(list)) + 0.5)))
		for _, o := range list {
			if int(r.matched[o.message]) == i {
				r.matched[o.message]++
				r.scores[o.message] += rarity * o.weight * (saturation + 1) / (o.weight + r.norms[r.codes[o.message]])
			}
		}
	}
	for _, t := range g.not {
		list, err := r.lister.list(t)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			r.matched[o.message] = 0
		}
	}
	found := make([]ranking, 0, len(candidates))
	for _, o := range candidates {
		if int(r.matched[o.message]) == len(g.want) {
			found = append(found, ranking{o.message, r.scores[o.message]})
		}
	}
	return found, nil
}

// ranked is a [source] of messages in the order of their rankings, the best first.
type ranked struct {
	p     *places
	found []ranking
	best  []ranking // the best rankings, sorted
	done  int       // number of messages of best that were returned
	spots []spot
}

func (r *ranked) next(n int) (_ []spot, err error) {
	r.spots = r.spots[:0]
	for r.done < len(r.found) && len(r.spots) < n {
		if r.done == len(r.best) {
			if err := r.sort(); err != nil {
				return nil, err
			}
		}
		if r.spots, err = r.p.of(r.spots, r.best[r.done].message); err != nil {
			return nil, err
		}
		r.done++
	}
	return r.spots, nil
}

// sort finds the next best messages and prepares their places. Without a limit, its second call finds all.
func (r *ranked) sort() error {
	n := batchGrows * r.done
	switch limit := r.p.q.Limit; {
	case r.done > 0 && limit == 0:
		n = len(r.found)
	case r.done == 0 && limit == 0:
		n = firstBatch
	case r.done == 0:
		n = 2 * min(limit, len(r.found)) // some messages may not be in the wanted sessions
	}
	r.best = best(r.found, n)
	return r.p.prepare(len(r.best)-r.done, func(i int) uint32 { return r.best[r.done+i].message })
}

func (*ranked) text(uint32) string { return "" }

// best returns the n best rankings, the best first. It may change the order of all.
func best(all []ranking, n int) []ranking {
	if n < len(all)/4 {
		kept := make([]ranking, 0, 2*n)
		worst := ranking{score: -1} // no worse ranking is among the n best
		for _, r := range all {
			if compareRankings(r, worst) > 0 {
				continue
			}
			if kept = append(kept, r); len(kept) == 2*n {
				slices.SortFunc(kept, compareRankings)
				kept = kept[:n]
				worst = kept[n-1]
			}
		}
		all = kept
	}
	slices.SortFunc(all, compareRankings)
	return all[:min(n, len(all))]
}
