package gitstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx"
)

// snapshotAmong returns the one snapshot of the candidates that is tip or an ancestor of it. The others may
// be any objects. None is [domarkx.ErrNotFound], several are [domarkx.ErrInvalid].
func (r reader) snapshotAmong(ctx context.Context, tip string, candidates []string) (domarkx.Info, error) {
	found, err := r.snapshots().among(ctx, tip, candidates)
	return found.info, err
}

// versionAmong is snapshotAmong for workspace versions. The result includes the resources.
func (r reader) versionAmong(ctx context.Context, tip string, candidates []string) (domarkx.Version, error) {
	found, err := r.versions().among(ctx, tip, candidates)
	if err != nil {
		return domarkx.Version{}, err
	}
	return r.Version(ctx, found.id)
}

// among returns the one commit of the candidates that is tip or an ancestor of it.
func (l lineage) among(ctx context.Context, tip string, candidates []string) (ancestor, error) {
	var found []ancestor
	for _, id := range candidates {
		a, err := l.at(id)
		if errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrCorrupt) {
			continue // it is another object
		}
		if err != nil {
			return ancestor{}, err
		}
		if ok, err := l.isAncestor(ctx, id, tip); err != nil {
			return ancestor{}, err
		} else if ok {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 0:
		return ancestor{}, domarkx.ErrNotFound
	case 1:
		return found[0], nil
	}
	return ancestor{}, fmt.Errorf("%w, it could be any of %d, give more digits", domarkx.ErrInvalid, len(found))
}
