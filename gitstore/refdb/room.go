package refdb

import (
	"context"
	"path"
)

// moving is the prefix of temporary references. They protect objects from git gc while a reference is replaced by
// references below its name, or the reverse.
const moving = "refs/domarkx/moving/"

// apply makes changes. Git does not remove a reference and create another one below its name in one transaction. So apply
// makes such removals first, in a transaction of their own. Temporary references protect the objects of the removed
// references from git gc until the other changes are made.
func (r *Refs) apply(ctx context.Context, e *entry, changes []Change) error {
	removals, others := makeRoom(changes)
	for _, step := range [][]Change{keepers(removals), removals, others} {
		if len(step) == 0 {
			continue
		}
		if err := r.applyOnce(ctx, e, step); err != nil {
			return err
		}
	}
	if len(removals) == 0 {
		return nil
	}
	return r.dropKeepers(ctx, e)
}

// keepers returns the changes that create the temporary references for the objects of removed references.
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

// dropKeepers removes all temporary references.
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

// makeRoom splits changes into the removals that must be made before the rest, and the rest.
func makeRoom(changes []Change) (removals, others []Change) {
	added, directories := map[string]bool{}, map[string]bool{}
	for _, c := range changes {
		if c.Old != "" {
			continue
		}
		added[c.Ref] = true
		for dir := path.Dir(c.Ref); dir != "refs" && !directories[dir]; dir = path.Dir(dir) {
			directories[dir] = true
		}
	}
	for _, c := range changes {
		room := false
		if c.New == "" {
			room = directories[c.Ref]
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
