package gitstore

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx"
)

// The conflict cache holds how many conflicts there are in snapshots, by commit. It is
// only a cache, written as the list cache is: a record per commit is the 20 bytes of its id
// and a varint.
const (
	conflictCacheName  = "conflict-cache"
	conflictCacheMagic = "domarkx conflict cache 1\n"
)

// Conflicts returns how many conflicts merges left in snapshots, by id, without those
// that have none: each message that stands in several texts is one, and so is a header
// with several sides. What is asked for again costs one file, whatever the sessions hold.
// A snapshot that cannot be read has none.
func (s *Store) Conflicts(ctx context.Context, snapshots []domarkx.Info) (map[string]int, error) {
	known := readConflictCache(s.StateDir())
	found := map[string]int{}
	asked := make(map[string]int, len(snapshots))
	missed := false
	for _, info := range snapshots {
		n, ok := known[info.ID]
		if !ok && info.Number > 1 { // the first snapshot merges nothing
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var err error
			if n, err = s.conflicts(ctx, info.ID); err != nil {
				continue // the list says so
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

// conflicts counts the conflicts of a snapshot. It reads no content of messages.
func (r reader) conflicts(ctx context.Context, id string) (int, error) {
	root, info, err := r.root(id)
	if err != nil {
		return 0, err
	}
	n, same := 0, false
	var last domarkx.ID
	headers, _, err := r.parts(ctx, root, info.Messages, func(e domarkx.Entry) {
		if e.ID != last {
			same = false
		} else if !same {
			same = true
			n++
		}
		last = e.ID
	})
	if len(headers) > 1 {
		n++
	}
	return n, err
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
		data, _ = hex.AppendDecode(data, []byte(id)) // is an object id
		data = binary.AppendVarint(data, int64(n))
	}
	return sealCache(conflictCacheMagic, data)
}
