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

// Hits are described in batches, because snippets take much more memory than their places, and are made in the order of
// the texts in the index. The first batch is small, so that the first hits come at once; batches then grow, because
// each may read all texts again.
const (
	firstBatch = 1000
	batchGrows = 8
	maxBatch   = 256 << 10
	pieceSize  = 1000 // the number of hits that are returned together
)

// errChanged reports that another program changed the index since the hits were ranked.
var errChanged = errors.New("the search index has changed")

// Hits returns the hits of a query in their order, in pieces, with bounded memory. Between pieces the index is not locked;
// if it changes, hits that came before do not come again. If it is damaged, it is made again. It ends with an error.
func (x *Index) Hits(ctx context.Context, q Query) iter.Seq2[[]Hit, error] {
	return func(yield func([]Hit, error) bool) {
		s := &stream{x: x, q: q, batch: firstBatch, seed: maphash.MakeSeed(), yield: yield}
		for {
			err := s.run(ctx)
			if err != nil && isDamaged(err) && !s.remade && ctx.Err() == nil {
				if s.remade, err = true, x.remake(ctx); err == nil {
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

// errStopped reports that no more hits are wanted.
var errStopped = errors.New("stopped")

// A stream returns the hits of a query.
type stream struct {
	x     *Index
	q     Query
	yield func([]Hit, error) bool
	batch int // the size of the next batch

	seed   maphash.Seed
	given  []uint64            // the hashes of hits that were returned
	skip   map[uint64]struct{} // of those before the index changed
	remade bool

	m       *matching
	p       *places
	spots   source
	version int64 // of the index
}

// A source returns the spots of the messages that match, in the order of the hits.
type source interface {
	// next returns the next n spots, or some more, or fewer at the end. They are valid until the next call.
	next(n int) ([]spot, error)
	// text returns the packed snippet of a message, or "" if it has to be made.
	text(message uint32) string
}

// again prepares to run once more.
func (s *stream) again() {
	s.skip = make(map[uint64]struct{}, len(s.given))
	for _, h := range s.given {
		s.skip[h] = struct{}{}
	}
}

// run returns hits until there are no more.
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
			return err
		})
		if err != nil {
			return err
		}
		if err := s.give(rows); err != nil {
			return err
		}
	}
	return nil
}

// isReplaced reports whether another file is in the place of the index. A transaction would take the journal of that one for its own.
func (x *Index) isReplaced() bool {
	now, err := os.Lstat(x.path)
	return !x.temp && (err != nil || !os.SameFile(now, x.db.file))
}

// reopen opens the file that is in the place of the index.
func (x *Index) reopen(ctx context.Context) error {
	err := x.db.close()
	x.db = nil
	return cmp.Or(err, x.update(ctx, false))
}

// read calls f in a transaction that sees one state of the index.
func (x *Index) read(ctx context.Context, f func() error) (err error) {
	stop := x.db.conn.Watch(ctx)
	defer stop()
	if err := x.db.begin("DEFERRED"); err != nil {
		return err
	}
	defer func() {
		if err = x.db.end(err); ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	return f()
}

// find finds the spots of the hits, if that was not done. If it was, it checks that the index is as it was then.
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
	s.version = version
	if s.m == nil {
		if s.m, err = newMatching(s.q); err != nil {
			return err
		}
	}
	allowed, err := s.x.allowed(s.q)
	if err != nil {
		return err
	}
	if s.p, err = s.x.places(s.q); err != nil {
		return err
	}
	if s.q.Kind == Words {
		s.spots, err = s.x.words(s.m, allowed, s.p)
	} else {
		s.spots, err = s.x.scan(ctx, s.m, allowed, s.p)
	}
	return err
}

// words finds messages by the full-text index.
func (x *Index) words(m *matching, allowed set, p *places) (source, error) {
	found, err := x.rank(m.groups)
	if err != nil {
		return nil, err
	}
	return &ranked{p: p, found: slices.DeleteFunc(found, func(r ranking) bool { return !allowed.has(int64(r.message)) })}, nil
}

// describe returns the next batch of hits, and whether there may be more.
func (s *stream) describe(ctx context.Context) (rows []row, more bool, err error) {
	n, left := s.batch, s.batch
	if s.q.Limit > 0 {
		left = s.q.Limit - len(s.given)
		n = min(n, left)
	}
	for more = true; more && len(rows) < n; {
		want := n - len(rows)
		spots, err := s.spots.next(want)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, false, err
		}
		more = len(spots) >= want
		rows = slices.Grow(rows, len(spots))
		for _, at := range spots {
			if _, skip := s.skip[s.hash(at)]; !skip {
				rows = append(rows, row{spot: at, text: s.spots.text(at.message)})
			}
		}
	}
	if s.q.Limit > 0 && len(rows) >= left {
		rows, more = rows[:left], false
	}
	s.batch = min(s.batch*batchGrows, maxBatch)
	return rows, more, s.p.describe(ctx, rows, s.m)
}

// give returns hits to the caller.
func (s *stream) give(rows []row) error {
	for piece := range slices.Chunk(rows, pieceSize) {
		hits := make([]Hit, len(piece))
		for i, r := range piece {
			hits[i] = r.hit(s.p)
			s.given = append(s.given, s.hash(r.spot))
		}
		if !s.yield(hits, nil) {
			return errStopped
		}
	}
	return nil
}

// hash returns a hash of what a hit is, which does not depend on the state of the index.
func (s *stream) hash(at spot) uint64 {
	return maphash.Comparable(s.seed, struct {
		session, snapshot string
		k                 uint32
	}{s.p.names[at.session], s.p.snapshots[at.snapshot], at.k})
}
