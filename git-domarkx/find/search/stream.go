package search

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"os"
	"slices"
)

// Hits get their snippets in batches: snippets take much more memory than places, and making them in the order of the
// texts in the index takes less time. The first batch is small, so that the first hits come at once. Later batches are
// larger, because each may read all texts again. A million snippets would take most of a gigabyte.
const (
	firstBatch = 1000
	batchGrows = 8
	maxBatch   = 96 << 10
	pieceSize  = 1000 // number of hits that are returned together
)

// errChanged is the error if another program has changed the index since the hits were found.
var errChanged = errors.New("the search index has changed")

// Hits yields the hits of a query in their order, some at a time, with bounded memory. The index is not locked between
// two of these. If it changes meanwhile, the other hits are described from the sessions. If the index is damaged, it is
// made again. An error is yielded last.
func (x *Index) Hits(ctx context.Context, q Query) iter.Seq2[[]Hit, error] {
	return (&stream{x: x, q: q}).hits(ctx)
}

// Best returns the first hits of a query, as many as its limit, and how many it has in all. It counts no more than most.
func (x *Index) Best(ctx context.Context, q Query, most int) (best []Hit, total int, err error) {
	s := &stream{x: x, q: q, most: most}
	for hits, err := range s.hits(ctx) {
		if err != nil {
			return nil, 0, err
		}
		best = append(best, hits...)
	}
	return best, s.total, nil
}

// A stream returns the hits of a query.
type stream struct {
	x     *Index
	q     Query
	most  int // up to how many hits are counted; 0 for no count
	total int // how many hits there are, at most so many

	m       *matching
	p       *places
	spots   []spot // of the hits that were not returned yet, in their order
	version int64  // version of the index that they come from
}

func (s *stream) hits(ctx context.Context) iter.Seq2[[]Hit, error] {
	return func(yield func([]Hit, error) bool) {
		rows, err := s.first(ctx)
		if err != nil && isDamaged(err) && ctx.Err() == nil {
			if err = s.x.remake(ctx); err == nil {
				rows, err = s.first(ctx)
			}
		}
		for size := firstBatch * batchGrows; err == nil; size = min(size*batchGrows, maxBatch) {
			for piece := range slices.Chunk(rows, pieceSize) {
				hits := make([]Hit, len(piece))
				for i, r := range piece {
					hits[i] = r.Hit
					if s.q.Prose {
						s.x.quoteProse(ctx, &hits[i], s.m)
					}
				}
				if !yield(hits, nil) {
					return
				}
			}
			if len(s.spots) == 0 {
				return
			}
			rows, err = s.next(ctx, size)
		}
		yield(nil, err)
	}
}

// first finds the hits and returns the first batch of them.
func (s *stream) first(ctx context.Context) (rows []row, err error) {
	err = s.x.read(ctx, func() error {
		if err := s.find(ctx); err != nil {
			return err
		}
		rows, err = s.p.describe(ctx, s.take(firstBatch), s.m)
		return err
	})
	return rows, err
}

// next returns the next batch of hits. It reads the sessions if the index has changed or cannot be read any more.
func (s *stream) next(ctx context.Context, size int) (rows []row, err error) {
	spots := s.take(size)
	if err = errChanged; !s.x.isReplaced() {
		err = s.x.read(ctx, func() error {
			if s.x.db.number("PRAGMA data_version") != s.version {
				return errChanged
			}
			rows, err = s.p.describe(ctx, spots, s.m)
			return err
		})
	}
	if err == nil || ctx.Err() != nil {
		return rows, err
	}
	rows = nil // some may lack what could not be read
	snippets := snippets{m: s.m}
	for _, r := range s.p.rows(spots) {
		if c, ok := s.x.message(ctx, r.Hit); ok {
			snippets.make(c.Text)
			r.Role, r.Model, r.Snippet, r.Matches = roleOf(roleNumber(c.Role)), c.Model, string(snippets.line), slices.Clone(snippets.matches)
			rows = append(rows, r)
		}
	}
	return rows, ctx.Err()
}

func (s *stream) take(size int) []spot {
	some := s.spots[:min(size, len(s.spots))]
	s.spots = s.spots[len(some):]
	return some
}

// isReplaced reports whether the file of the index was replaced by another. A transaction would then take the new
// file's journal for that of the old one.
func (x *Index) isReplaced() bool {
	now, err := os.Lstat(x.path)
	return !x.temp && (err != nil || !os.SameFile(now, x.db.file))
}

// read calls f in a transaction that sees one state of the index.
func (x *Index) read(ctx context.Context, f func() error) (err error) {
	stop := x.db.conn.Watch(ctx)
	defer stop()
	if !x.reading {
		x.db.begin("DEFERRED")
	}
	x.reading = false
	if err = x.db.end(f()); ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (s *stream) find(ctx context.Context) (err error) {
	s.version = s.x.db.number("PRAGMA data_version")
	if s.m, err = newMatching(s.q); err != nil {
		return err
	}
	allowed, err := s.x.allowed(s.q)
	if err != nil {
		return err
	}
	wanted := s.q
	wanted.Limit = cmp.Or(s.most, wanted.Limit)
	s.p = s.x.places(wanted)
	if s.q.Kind == Words {
		messages := s.x.rank(s.m.groups, s.q.Prose)
		s.spots = s.p.first(slices.DeleteFunc(messages, func(message uint32) bool { return !allowed.has(int64(message)) }))
	} else if s.spots, err = s.x.scan(ctx, s.m, allowed, s.p); err != nil {
		return err
	}
	if s.total = min(len(s.spots), s.most); s.q.Limit > 0 {
		s.spots = s.spots[:min(len(s.spots), s.q.Limit)]
	}
	return nil
}
