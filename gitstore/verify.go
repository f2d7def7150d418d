package gitstore

import (
	"context"

	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// Verify checks what refs of a remote introduce: all commits that no ref of this repository reaches, and the content that their
// parents do not have. refs have shared names (see package remote). Verify returns an error for each bad ref, by that name. Its
// memory use does not depend on the amount of data.
func (s *Store) Verify(ctx context.Context, refs []refdb.Ref, checks snapshot.DocumentChecks) (map[string]error, error) {
	ids, err := s.newCommits(ctx, refs)
	if err != nil {
		return nil, err
	}
	return s.VerifyCommits(ctx, ids, refs, checks)
}

// newCommits returns the commits that only refs reach and no ref of this program in the repository, parents before their
// children.
func (s *Store) newCommits(ctx context.Context, refs []refdb.Ref) ([]string, error) {
	there, err := s.References(ctx)
	if err != nil {
		return nil, err
	}
	return s.revList(ctx, ids(refs), ids(there), "--topo-order", "--reverse", "--ignore-missing")
}

func ids(refs []refdb.Ref) []string {
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
	}
	return ids
}
