package search

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
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
	maxBatch   = 256 << 10
	pieceSize  = 1000 // number of hits that are returned together
)

// errChanged is the error if another program has changed the index since the hits were ranked.
var errChanged = errors.New("the search index has changed")

// Hits yields the hits of a query in their order, some at a time, with bounded memory. The index is not locked between
// two of these. If it changes meanwhile, hits that were yielded are not yielded again. If the index is damaged, it is
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

func (s *stream) hits(ctx context.Context) iter.Seq2[[]Hit, error] {
	return func(yield func([]Hit, error) bool) {
		s.batch, s.seed, s.yield = firstBatch, maphash.MakeSeed(), yield
		for {
			err := s.run(ctx)
			if err != nil && isDamaged(err) && !s.remade && ctx.Err() == nil {
				if s.remade, err = true, s.x.remake(ctx); err == nil {
					err = errChanged
				}
			}
			if !errors.Is(err, errChanged) {
				if err != nil && !errors.Is(err, errStopped) {
					yield(nil, err)
				}
				return
			}
			s.again()
		}
	}
}

// errStopped means that the caller has ended the iteration.
var errStopped = errors.New("stopped")

// A stream returns the hits of a query.
type stream struct {
	x     *Index
	q     Query
	yield func([]Hit, error) bool
	batch int // size of the next batch
	most  int // up to how many hits are counted; 0 for no count
	total int // how many hits there are, at most so many

	seed   maphash.Seed
	given  []uint64            // hashes of the hits that were returned
	skip   map[uint64]struct{} // hashes of the hits that were returned before the index changed
	remade bool

	m       *matching
	p       *places
	spots   source
	version int64 // version of the index that the hits come from
}

// A source returns the spots of matching messages, in the order of the hits.
type source interface {
	// next returns the next spots: n, or some more, or fewer at the end. They are valid until the next call.
	next(n int) ([]spot, error)
}

// again prepares to run the search again after the index has changed.
func (s *stream) again() {
	s.skip = make(map[uint64]struct{}, len(s.given))
	for _, h := range s.given {
		s.skip[h] = struct{}{}
	}
}

// run returns all hits to the caller, one after the other.
func (s *stream) run(ctx context.Context) error {
	s.spots = nil
	for more := true; more; {
		if s.spots != nil && s.x.isReplaced() {
			return cmp.Or(s.x.reopen(ctx), errChanged)
		}
		var rows []row
		err := s.x.read(ctx, func() (err error) {
			if err = s.find(ctx); err == nil {
				rows, more, err = s.describe(ctx)
			}
			if err == nil && !more {
				err = s.count()
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := s.give(ctx, rows); err != nil {
			return err
		}
	}
	return nil
}

// isReplaced reports whether the file of the index was replaced by another. A transaction would then take the new
// file's journal for that of the old one.
func (x *Index) isReplaced() bool {
	now, err := os.Lstat(x.path)
	return !x.temp && (err != nil || !os.SameFile(now, x.db.file))
}

// reopen opens the new file of the index.
func (x *Index) reopen(ctx context.Context) error {
	err := x.db.close()
	x.db, x.reading = nil, false
	return cmp.Or(err, x.update(ctx, false))
}

// read calls f in a transaction that sees one state of the index.
func (x *Index) read(ctx context.Context, f func() error) (err error) {
	stop := x.db.conn.Watch(ctx)
	defer stop()
	if !x.reading {
		err = x.db.begin("DEFERRED")
	}
	if x.reading = false; err != nil {
		return err
	}
	defer func() {
		if err = x.db.end(err); ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	return f()
}

// find finds the spots of the hits. If they are found already, it returns errChanged if the index has changed since.
func (s *stream) find(ctx context.Context) error {
	version, err := s.x.db.number("PRAGMA data_version")
	if err != nil {
		return err
	}
	if s.spots != nil {
		if s.version != version {
			return errChanged
		}
		return nil
	}
	s.version, s.total = version, 0
	if s.m == nil {
		if s.m, err = newMatching(s.q); err != nil {
			return err
		}
	}
	allowed, err := s.x.allowed(s.q)
	if err != nil {
		return err
	}
	wanted := s.q
	if s.most > 0 {
		wanted.Limit = s.most
	}
	if s.p, err = s.x.places(wanted); err != nil {
		return err
	}
	if s.q.Kind == Words {
		s.spots, err = s.x.words(s.m, allowed, s.p, s.q.Prose)
	} else {
		s.spots, err = s.x.scan(ctx, s.m, allowed, s.p)
	}
	return err
}

// words finds messages with the full-text index.
func (x *Index) words(m *matching, allowed set, p *places, prose bool) (source, error) {
	messages, err := x.rank(m.groups, prose)
	return &ranked{p: p, messages: slices.DeleteFunc(messages, func(message uint32) bool { return !allowed.has(int64(message)) })}, err
}

// describe returns the next batch of hits, and whether there may be more.
func (s *stream) describe(ctx context.Context) (rows []row, more bool, err error) {
	n, left := s.batch, s.batch
	if s.q.Limit > 0 {
		left = s.q.Limit - len(s.given)
		n = min(n, left)
	}
	var wanted []spot
	for more = true; more && len(wanted) < n; {
		want := n - len(wanted)
		spots, err := s.spots.next(want)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, false, err
		}
		more = len(spots) >= want
		s.total += len(spots)
		for _, at := range spots {
			if _, skip := s.skip[s.hash(at)]; !skip {
				wanted = append(wanted, at)
			}
		}
	}
	if s.q.Limit > 0 && len(wanted) >= left {
		wanted, more = wanted[:left], false
	}
	s.batch = min(s.batch*batchGrows, maxBatch)
	rows, err = s.p.describe(ctx, wanted, s.m)
	return rows, more, err
}

// count counts the spots that are left.
func (s *stream) count() error {
	for more := true; more && s.total < s.most; {
		want := s.most - s.total
		spots, err := s.spots.next(want)
		if err != nil {
			return err
		}
		s.total += len(spots)
		more = len(spots) >= want
	}
	s.total = min(s.total, s.most)
	return nil
}

// give returns hits to the caller.
func (s *stream) give(ctx context.Context, rows []row) error {
	for piece := range slices.Chunk(rows, pieceSize) {
		hits := make([]Hit, len(piece))
		for i, r := range piece {
			hits[i] = r.Hit
			if s.q.Prose {
				s.x.quoteProse(ctx, &hits[i], s.m)
			}
			s.given = append(s.given, s.hash(r.spot))
		}
		if !s.yield(hits, nil) {
			return errStopped
		}
	}
	return nil
}

// hash returns a hash of a hit. It is the same for the same hit in an index that was made again.
func (s *stream) hash(at spot) uint64 {
	return maphash.Comparable(s.seed, struct {
		session, snapshot string
		k                 uint32
	}{s.p.names[at.session], s.p.snapshots[at.snapshot], at.k})
}
