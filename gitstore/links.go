package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// LinkedVersions returns the workspace versions that are parents of a snapshot, in order.
func (r reader) LinkedVersions(_ context.Context, snapshot string) ([]string, error) {
	c, _, err := r.snapshot(snapshot)
	if err != nil {
		return nil, err
	}
	var linked []string
	for _, id := range c.Parents {
		_, _, _, err := r.version(id)
		if errors.Is(err, codec.ErrNoVersion) {
			continue
		}
		if err != nil {
			return nil, err
		}
		linked = append(linked, id.String())
	}
	return linked, nil
}

// Linked returns those of the versions that are parents of a snapshot or of one of its ancestors. Other
// links do not count, since anybody can write them into a message. It reads the history only as far as
// necessary, and caches it.
func (r reader) Linked(ctx context.Context, snapshot string, versions []string) (map[string]bool, error) {
	linked := map[string]bool{}
	var walk *linkWalk
	for _, version := range versions {
		id, err := odb.ParseID(version)
		if err != nil || !r.isVersion(id) {
			continue
		}
		if walk == nil {
			walk = r.links.of(snapshot)
		}
		if found, err := walk.reaches(ctx, r.snapshots(), id); err != nil {
			return nil, err
		} else if found {
			linked[id.String()] = true
		}
	}
	return linked, nil
}

// isVersion reports whether a commit is a readable workspace version.
func (r reader) isVersion(id odb.ID) bool {
	_, _, _, err := r.version(id)
	return err == nil
}

// HasVersion reports whether a workspace version exists in this repository.
func (s *Store) HasVersion(id string) bool {
	oid, err := odb.ParseID(id)
	return err == nil && s.db.Has(oid) && s.isVersion(oid)
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
		if s.isVersion(id) {
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
