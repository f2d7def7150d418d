package refdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/domarkx/domarkx"
)

// settle removes the lock files that the dead git of an entry left, and brings its
// references to a state in which all or none of the changes are made. It reports whether
// all are. References that another program has moved since are left alone.
func (r *Refs) settle(ctx context.Context, e *entry) (done bool, err error) {
	if err := r.unlockDead(ctx, e); err != nil {
		return false, err
	}
	done, err = r.reconcile(ctx, e)
	if err != nil {
		return false, err
	}
	return done, r.dropKeepers(ctx, e)
}

// reconcile is the second half of settle.
func (r *Refs) reconcile(ctx context.Context, e *entry) (done bool, err error) {
	lost := map[string]bool{}
	now, err := r.progress(e.Changes, lost)
	if err != nil || !now.begun {
		return false, err
	}
	if len(now.forward) > 0 {
		now, err = r.finish(ctx, e, now, lost)
		if err != nil {
			return false, err
		}
	}
	return now.done, r.makeDurable(e.Changes)
}

// finish makes the missing changes. If it cannot, because an object is missing or the disk
// is full, it undoes the others.
func (r *Refs) finish(ctx context.Context, e *entry, now progress, lost map[string]bool) (progress, error) {
	failed := r.apply(ctx, e, now.forward)
	if err := r.unlockDead(ctx, e); err != nil {
		return now, err
	}
	now, err := r.progress(e.Changes, lost)
	if err != nil || failed == nil || len(now.forward) == 0 {
		return now, err
	}
	if err := r.apply(ctx, e, now.back); err != nil {
		return now, fmt.Errorf("a change of %d references is half made; finishing it: %w; undoing it: %w", len(e.Changes), failed, err)
	}
	return progress{}, nil
}

// progress is the state of a partly made change.
type progress struct {
	forward []Change // not made yet
	back    []Change // would undo what was made
	begun   bool     // whether any change was made
	done    bool     // whether all changes were made and nothing has moved since
}

// progress compares references with a change. A reference whose content was lost in a crash
// of the machine is removed and recorded in lost.
func (r *Refs) progress(changes []Change, lost map[string]bool) (progress, error) {
	now := progress{done: true}
	for _, c := range changes {
		if c.Old == c.New {
			continue
		}
		id, _, err := r.Read(c.Ref)
		if errors.Is(err, domarkx.ErrCorrupt) {
			if err := r.dropEmpty(c.Ref); err != nil {
				return now, err
			}
			lost[c.Ref] = true
			id, _, err = r.Read(c.Ref)
		}
		if err != nil {
			return now, err
		}
		now.begun = now.begun || id == c.New || lost[c.Ref]
		now.done = now.done && id == c.New
		if id != c.New && (id == c.Old || lost[c.Ref]) {
			now.forward = append(now.forward, Change{c.Ref, id, c.New})
		}
		if id != c.Old && (id == c.New || lost[c.Ref]) {
			now.back = append(now.back, Change{c.Ref, id, c.Old})
		}
	}
	return now, nil
}

// dropEmpty removes a loose reference whose content was lost in a crash of the machine:
// file systems leave such files empty or filled with zeros.
func (r *Refs) dropEmpty(name string) error {
	data, err := os.ReadFile(r.path(name))
	if err != nil {
		return err
	}
	if len(bytes.Trim(data, "\x00")) > 0 {
		return fmt.Errorf("the reference %q does not name an object: %w", name, domarkx.ErrCorrupt)
	}
	return os.Remove(r.path(name))
}
