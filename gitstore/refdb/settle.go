package refdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/domarkx/domarkx/format/domarkx"
)

// settle removes the lock files that the dead git of a journal entry left. Then it finishes the entry's changes, or undoes
// them if it cannot finish them. It reports whether all changes are made. It leaves references that another program has
// changed since.
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

// reconcile finishes the changes of a journal entry if some were made, or undoes those. It reports whether all are made.
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

// finish makes the changes that are not made yet. If it cannot, for example because an object is missing or the disk is
// full, it undoes those that were made.
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
		return now, fmt.Errorf("only some of %d references are changed; changing the others: %w; undoing the change: %w", len(e.Changes), failed, err)
	}
	return progress{}, nil
}

// progress describes which changes of a journal entry were made.
type progress struct {
	forward []Change // those that were not made
	back    []Change // those that undo what was made
	begun   bool     // whether at least one was made
	done    bool     // whether all were made, and no reference has changed since
}

// progress compares references with their values before and after changes. It removes a loose reference whose content was
// lost in a crash of the machine, and adds it to lost.
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

// dropEmpty removes a loose reference whose file is empty or contains only zeros, as file systems leave it after a crash of
// the machine. It returns [domarkx.ErrCorrupt] for another content.
func (r *Refs) dropEmpty(name string) error {
	data, err := os.ReadFile(r.path(name))
	if err != nil {
		return err
	}
	if len(bytes.Trim(data, "\x00")) > 0 {
		return noObjectError(name)
	}
	return os.Remove(r.path(name))
}
