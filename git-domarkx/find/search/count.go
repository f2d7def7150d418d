package search

import "context"

// Count returns how many hits a query has, and most if it has at least so many. The query's own limit does not matter.
func (x *Index) Count(ctx context.Context, q Query, most int) (n int, err error) {
	q.Limit = most
	s := &stream{x: x, q: q}
	err = x.read(ctx, func() error {
		if err := s.find(ctx); err != nil {
			return err
		}
		for n < most {
			wanted := most - n
			spots, err := s.spots.next(wanted)
			if err != nil {
				return err
			}
			n += len(spots)
			if len(spots) < wanted {
				break
			}
		}
		return nil
	})
	return min(n, most), err
}
