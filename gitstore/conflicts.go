package gitstore

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/format/domarkx"
)

// The conflict cache contains the number of conflicts in snapshots. It has the format of the list cache. A record consists of
// the commit's id (20 bytes) and the number (varint).
const (
	conflictCacheName  = "conflict-cache"
	conflictCacheMagic = "domarkx conflict cache 1\n"
)

// Conflicts returns, by id, how many conflicts merges have left in each of the snapshots that has any. A message with several
// texts is one conflict, and so is a header with several sides. Conflicts omits snapshots that cannot be read, and stores the
// numbers in a cache.
func (s *Store) Conflicts(ctx context.Context, snapshots []domarkx.Info) (map[string]int, error) {
	known := readConflictCache(s.StateDir())
	found := map[string]int{}
	asked := make(map[string]int, len(snapshots))
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
		writeCache(s.StateDir(), conflictCacheName, encodeConflictCache(asked))
	}
	return found, nil
}

func readConflictCache(dir string) map[string]int {
	data, err := os.ReadFile(filepath.Join(dir, conflictCacheName))
	if err != nil {
		return nil
	}
	d, ok := openCache(conflictCacheMagic, data)
	if !ok {
		return nil
	}
	known := map[string]int{}
	for len(d.rest) > 0 && !d.bad {
		id := hex.EncodeToString([]byte(d.take(20)))
		known[id] = int(d.varint())
	}
	if d.bad {
		return nil
	}
	return known
}

func encodeConflictCache(counts map[string]int) []byte {
	data := newCache(conflictCacheMagic, len(counts)*24)
	for id, n := range counts {
		data, _ = hex.AppendDecode(data, []byte(id)) // an id is always valid
		data = binary.AppendVarint(data, int64(n))
	}
	return sealCache(conflictCacheMagic, data)
}
