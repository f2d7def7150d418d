package gitstore

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// NewFiles calls visit for each snapshot and workspace version that tips reach and known do not reach, the newest first. It
// passes the files of the commit that are not at the same path in its first parent, and leaves out files that it has passed
// before ([snapshot.FileWalk]). An error of visit ends NewFiles, which returns it.
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
		oid, err := odb.ParseID(id)
		if err != nil {
			return err
		}
		stored, err := walk.Commit(oid)
		if err != nil {
			return err
		}
		if err := visit(stored); err != nil {
			return err
		}
	}
	return nil
}

// Reach reports whether all commits exist and are reachable from tips.
func (s *Store) Reach(ctx context.Context, tips, commits []string) (bool, error) {
	for _, id := range commits {
		if oid, err := odb.ParseID(id); err != nil || !s.db.Has(oid) {
			return false, nil
		}
	}
	outside, err := s.revList(ctx, commits, tips, "--max-count=1")
	return len(outside) == 0, err
}
