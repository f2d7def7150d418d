package gitstore

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// NewFiles visits the snapshots and versions among tips and their ancestors that are not among known and their
// ancestors, the newest first, with the files that the first parent does not have at the same path. A file
// that was visited before, in whatever commit, is not visited again.
func (s *Store) NewFiles(ctx context.Context, tips, known []string, visit func(snapshot.StoredCommit) error) error {
	if len(tips) == 0 {
		return nil
	}
	ids, err := s.revList(ctx, tips, known, "--topo-order")
	if err != nil {
		return fmt.Errorf("list commits: %w", err)
	}
	walk := snapshot.NewFileWalk(s.Reader)
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		stored, err := walk.Commit(id)
		if err != nil {
			return err
		}
		if err := visit(stored); err != nil {
			return err
		}
	}
	return nil
}

// Reach reports whether all of the commits exist and are among tips and their ancestors.
func (s *Store) Reach(ctx context.Context, tips, commits []string) (bool, error) {
	for _, id := range commits {
		if oid, err := odb.ParseID(id); err != nil || !s.db.Has(oid) {
			return false, nil
		}
	}
	outside, err := s.revList(ctx, commits, tips, "--max-count=1")
	return len(outside) == 0, err
}
