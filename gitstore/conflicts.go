package gitstore

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/derived"
)

// Conflicts returns, by id, how many conflicts merges have left in each of the snapshots that has any. A message with several
// texts is one conflict, and so is a header with several sides. Conflicts omits snapshots that cannot be read, and stores the
// numbers in a cache.
func (s *Store) Conflicts(ctx context.Context, snapshots []domarkx.Info) (map[string]int, error) {
	var known map[string]int
	derived.Conflicts.ReadValue(s.StateDir(), &known)
	found := map[string]int{}
	asked := map[string]int{}
	missed := false
	for _, info := range snapshots {
		n, ok := known[info.ID]
		if !ok && info.Number > 1 { // the first snapshot is not a merge
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var err error
			if n, err = s.ConflictCount(ctx, info.ID); err != nil {
				continue // List returns the error
			}
			missed = true
		}
		if n > 0 {
			found[info.ID] = n
		}
		if info.Number > 1 {
			asked[info.ID] = n
		}
	}
	if missed && len(snapshots) > 1 {
		_ = derived.Conflicts.WriteValue(s.StateDir(), asked) // the repository may be read-only
	}
	return found, nil
}
