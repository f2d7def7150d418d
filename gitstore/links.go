package gitstore

import (
	"context"
	"errors"

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
