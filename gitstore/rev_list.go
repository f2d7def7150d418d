package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// HasVersion reports whether a workspace version exists in this repository.
func (s *Store) HasVersion(id string) bool {
	oid, err := odb.ParseID(id)
	return err == nil && s.db.Has(oid) && s.IsVersion(oid)
}

// NewVersions returns the ids of the workspace versions among tips and their ancestors that are not
// among known and their ancestors, the oldest first.
func (s *Store) NewVersions(ctx context.Context, tips, known []string) ([]string, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	all, err := s.revList(ctx, tips, known, "--topo-order", "--reverse", "--basic-regexp", "--grep=^"+codec.TrailerResources+": ")
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	var ids []string
	for _, id := range all {
		if s.IsVersion(id) {
			ids = append(ids, id.String())
		}
	}
	return ids, nil
}

// revList returns the commits that git rev-list finds from tips and not from known.
func (s *Store) revList(ctx context.Context, tips, known []string, options ...string) ([]odb.ID, error) {
	var input bytes.Buffer
	for _, id := range tips {
		input.WriteString(id + "\n")
	}
	for _, id := range known {
		input.WriteString("^" + id + "\n")
	}
	out, err := s.git.Run(ctx, &input, append(append([]string{"rev-list"}, options...), "--stdin", "--")...)
	if err != nil {
		return nil, err
	}
	var ids []odb.ID
	for text := range strings.FieldsSeq(string(out)) {
		id, err := odb.ParseID(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
