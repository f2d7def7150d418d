package refdb

import (
	"context"
	"path"
)

// moving holds references that keep objects alive while a name and a folder of that
// name take each other's place.
const moving = "refs/domarkx/moving/"

// apply makes changes. A reference can stand where a folder of references was, or
// the other way round, only once that is gone, which git refuses to do in one
// transaction: such removals come first. Until the rest has followed, references
// of their own keep the objects from git gc.
func (r *Refs) apply(ctx context.Context, e *entry, changes []Change) error {
	removals, others := makeRoom(changes)
	if len(removals) == 0 {
		return r.applyOnce(ctx, e, others)
	}
	if err := r.applyOnce(ctx, e, keepers(removals)); err != nil {
		return err
	}
	if err := r.applyOnce(ctx, e, removals); err != nil {
		return err
	}
	if err := r.applyOnce(ctx, e, others); err != nil {
		return err
	}
	return r.dropKeepers(ctx, e)
}

// keepers are references to what removals would leave without one.
func keepers(removals []Change) []Change {
	kept := map[string]bool{}
	var changes []Change
	for _, c := range removals {
		if !kept[c.Old] {
			kept[c.Old] = true
			changes = append(changes, Change{Ref: moving + c.Old, New: c.Old})
		}
	}
	return changes
}

// dropKeepers removes what [keepers] made.
func (r *Refs) dropKeepers(ctx context.Context, e *entry) error {
	left, err := r.List(moving)
	if err != nil || len(left) == 0 {
		return err
	}
	var changes []Change
	for _, ref := range left {
		changes = append(changes, Change{Ref: ref.Name, Old: ref.ID})
	}
	return r.applyOnce(ctx, e, changes)
}

// makeRoom returns the removals that make room for new references, and the rest.
func makeRoom(changes []Change) (removals, others []Change) {
	added, folders := map[string]bool{}, map[string]bool{}
	for _, c := range changes {
		if c.Old != "" {
			continue
		}
		added[c.Ref] = true
		for dir := path.Dir(c.Ref); dir != "refs" && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for _, c := range changes {
		room := false
		if c.New == "" {
			room = folders[c.Ref]
			for dir := path.Dir(c.Ref); dir != "refs" && !room; dir = path.Dir(dir) {
				room = added[dir]
			}
		}
		if room {
			removals = append(removals, c)
		} else {
			others = append(others, c)
		}
	}
	return removals, others
}
