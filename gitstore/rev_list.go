package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// HasVersion reports whether a workspace version exists in this repository.
func (s *Store) HasVersion(id string) bool {
	oid, err := odb.ParseID(id)
	return err == nil && s.db.Has(oid) && s.IsVersion(id)
}

// NewVersions returns the ids of the workspace versions among tips and their ancestors, except for those among known and their
// ancestors. Parents come before their children.
func (s *Store) NewVersions(ctx context.Context, tips, known []string) ([]string, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	all, err := s.revList(ctx, tips, known, "--topo-order", "--reverse", "--basic-regexp", "--grep=^"+codec.TrailerResources+": ")
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	return slices.DeleteFunc(all, func(id string) bool { return !s.IsVersion(id) }), nil
}

// newOnLine returns the commits from tip back to known, without known, the newest first. It does so only if each of them has one
// parent and they are fewer than 64, which saves starting git after an import or a turn; otherwise ok is false.
func (s *Store) newOnLine(ctx context.Context, tip, known string) (ids []string, ok bool) {
	const most = 64
	for id := tip; len(ids) < most; {
		if id == known {
			return ids, true
		}
		parents, err := s.Parents(ctx, id)
		if err != nil || len(parents) != 1 {
			return nil, false
		}
		ids, id = append(ids, id), parents[0]
	}
	return nil, false
}

// revList returns the commits that git rev-list prints with these options: those that tips reach and known do not.
func (s *Store) revList(ctx context.Context, tips, known []string, options ...string) ([]string, error) {
	if len(tips) == 1 && len(known) == 1 && len(options) == 1 && options[0] == "--topo-order" {
		if ids, ok := s.newOnLine(ctx, tips[0], known[0]); ok {
			return ids, nil
		}
	}
	var input bytes.Buffer
	without := make(map[string]bool, len(known))
	for _, id := range known {
		input.WriteString("^" + id + "\n")
		without[id] = true
	}
	if !slices.ContainsFunc(tips, func(id string) bool { return !without[id] }) {
		return nil, nil // saves starting git where a fetch brings nothing
	}
	for _, id := range tips {
		input.WriteString(id + "\n")
	}
	out, err := s.git.Run(ctx, &input, append(append([]string{"rev-list"}, options...), "--stdin", "--")...)
	return strings.Fields(string(out)), err
}
