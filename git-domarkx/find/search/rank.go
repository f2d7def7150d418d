package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A ranking is a message with its score. Better messages have higher scores.
type ranking struct {
	message uint32
	score   float32
	prose   bool // the message comes before all others, because the match is in its own text
}

// compareRankings sorts rankings by descending score. Of messages with the same score, the one that was indexed last
// comes first.
func compareRankings(a, b ranking) int {
	if a.prose != b.prose {
		if a.prose {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.message, a.message))
}

// rank returns the messages that match one of several groups, in no particular order. Scores are those of SQLite's
// bm25. Words in calls and results count less, because they say less about the subject of a message; parts of
// identifiers count least. If prose is set, messages with a match in their own text come before all others.
func (x *Index) rank(groups []group, prose bool) (found []ranking, err error) {
	sql := "SELECT rowid, bm25(words, 2, 1, 0.5)"
	if prose {
		sql += ", bm25(words, 1, 0, 0)" // 0 without a match in the first column
	}
	sql += " FROM words WHERE words MATCH ?"
	err = x.db.query(sql, func(s *sqlite3.Stmt) error {
		message := s.Int(0)
		if message < 0 || message >= math.MaxUint32 {
			return fmt.Errorf("%w: message %d", errBlock, message)
		}
		found = append(found, ranking{uint32(message), float32(-s.Float(1)), prose && s.Float(2) < 0})
		return nil
	}, expression(groups))
	return found, err
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
