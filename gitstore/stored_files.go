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
	ids, ok := s.since(ctx, tips, known)
	if !ok {
		var err error
		if ids, err = s.revList(ctx, tips, known, "--topo-order"); err != nil {
			return fmt.Errorf("list commits: %w", err)
		}
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

// maxSince limits how many commits since looks at.
const maxSince = 20

// since returns the commits after a known one, the newest first, if they are a few in a row: what an
// import or a turn adds. It saves starting Git for them.
func (s *Store) since(ctx context.Context, tips, known []string) ([]odb.ID, bool) {
	if len(tips) != 1 || len(known) != 1 {
		return nil, false
	}
	var ids []odb.ID
	for at := tips[0]; len(ids) < maxSince; {
		if at == known[0] {
			return ids, true
		}
		id, err := odb.ParseID(at)
		if err != nil {
			return nil, false
		}
		head, err := s.Head(ctx, at)
		if err != nil || len(head.Parents) != 1 {
			return nil, false
		}
		ids, at = append(ids, id), head.Parents[0]
	}
	return nil, false
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
