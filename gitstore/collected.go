package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// syncCollected makes durable what `git gc` and `git pack-refs` have written since the last call. Git may not sync
// packed-refs, the tables of the reftable backend, and the directories of its files. A later sync of this program can then make the removal of loose refs durable
// but not the content of packed-refs: a power failure would lose all refs.
//
// If nothing has changed, syncCollected only reads one directory and one small file, [derived.Synced], which lists the
// durable ones: the first line is the size and time of packed-refs, the others are names of pack files and what [refdb.Refs.SyncTables] returned.
func (s *Store) syncCollected() error {
	var packNames []string
	packs := filepath.Join(s.git.ObjectDir, "pack")
	entries, err := os.ReadDir(packs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("syncing packs: %w", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, "pack-") && !odb.IsOurPack(name) && !strings.HasSuffix(name, ".keep") {
			packNames = append(packNames, name)
		}
	}
	refs := filepath.Join(s.git.CommonDir, "packed-refs")
	stamp := "none"
	if info, err := os.Stat(refs); err == nil {
		stamp = fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("syncing refs: %w", err)
	}
	state := derived.Synced.Path(s.StateDir(), "")
	data, err := os.ReadFile(state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("syncing refs: %w", err)
	}
	before := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	var paths []string
	for _, name := range packNames {
		if !slices.Contains(before[1:], name) {
			paths = append(paths, filepath.Join(packs, name))
		}
	}
	// Packs come first: refs must not become durable before their objects.
	if len(paths) > 0 {
		paths = append(paths, packs)
	}
	if stamp != before[0] {
		paths = append(paths, refs, s.git.CommonDir)
	}
	for _, path := range paths {
		if err := atomicfile.SyncDir(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("syncing what git has collected: %w", err)
		}
	}
	tables, err := s.refs.SyncTables(before[1:])
	if err != nil {
		return err
	}
	if now := strings.Join(slices.Concat([]string{stamp}, packNames, tables), "\n") + "\n"; now != string(data) {
		_ = derived.Synced.Replace(s.StateDir(), []byte(now)) // the next call syncs again
	}
	return nil
}
