package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// syncCollected makes durable what `git gc` and `git pack-refs` have written since the last call. Git may not sync
// packed-refs, the tables of the reftable backend, and the directories of its files. A later sync of this program can then make the removal of loose refs durable
// but not the content of packed-refs: a power failure would lose all refs.
//
// If nothing has changed, syncCollected only reads one directory and one small file, [derived.Synced], which lists the
// durable ones: the first line is the size and time of packed-refs, the others are names of pack files and of tables.
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
	tables, err := s.refs.Tables()
	if err != nil {
		return fmt.Errorf("syncing refs: %w", err)
	}
	refs := filepath.Join(s.git.CommonDir, "packed-refs")
	stamp := "none"
	if info, err := os.Stat(refs); err == nil {
		stamp = fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("syncing refs: %w", err)
	}
	now := strings.Join(slices.Concat([]string{stamp}, packNames, tables), "\n") + "\n"
	state := derived.Synced.Path(s.StateDir(), "")
	data, err := os.ReadFile(state)
	if string(data) == now {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("syncing refs: %w", err)
	}
	before := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for _, name := range packNames {
		if !slices.Contains(before[1:], name) {
			if err := syncPath(filepath.Join(packs, name)); err != nil {
				return fmt.Errorf("syncing packs: %w", err)
			}
		}
	}
	// The pack directory comes first: refs must not become durable before their objects.
	paths := []string{packs, refs, s.git.CommonDir}
	for _, table := range tables {
		if !slices.Contains(before[1:], table) {
			paths = append(paths, filepath.Join(s.git.CommonDir, filepath.FromSlash(table)), filepath.Join(s.git.CommonDir, "reftable"))
		}
	}
	for _, path := range paths {
		if err := syncPath(path); err != nil {
			return fmt.Errorf("syncing refs: %w", err)
		}
	}
	_ = derived.Synced.Replace(s.StateDir(), []byte(now)) // the next call syncs again
	return nil
}

// syncPath makes a file or directory durable if it exists.
func syncPath(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
