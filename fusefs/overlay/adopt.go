package overlay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
)

// Adopt takes up what an earlier mount acknowledged and did not get to: saves
// become snapshots, removals are done, and what is broken shows in errors/ again.
// The drafts are in the journal, and in the order they were made. It returns when
// all is done that can be done now.
func (t *Tree) Adopt(ctx context.Context, found []drafts.Draft) error {
	if len(found) == 0 {
		return nil
	}
	var errs []error
	// Else a save is made twice, and merged with itself: once by what the dead mount
	// began, after we have looked.
	if err := t.Saver.Settle(ctx); err != nil {
		errs = append(errs, fmt.Errorf("waiting for what an earlier mount began: %w", err))
	}
	a := adoption{Tree: t, editions: map[string]*edition{}, saved: map[step]string{}}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range found {
		if d.State == drafts.Beside {
			t.adoptFile(d)
			t.attachSoon()
			continue
		}
		if err := a.adopt(ctx, d); err != nil {
			errs = append(errs, fmt.Errorf("taking up what was saved to %q: %w", d.Name, err))
		}
	}
	errs = append(errs, a.dropDone())
	for _, d := range found {
		if d.State != drafts.Beside {
			t.finish(t.slot(d.Name))
		}
	}
	return errors.Join(errs...)
}

// An adoption is what is known while drafts are taken up.
type adoption struct {
	*Tree
	editions map[string]*edition // by the key of the draft
	saved    map[step]string     // the snapshots that were made before the mount died
	done     []string            // the keys of their drafts
}

// A step is a save that has become a snapshot, by what it was made from.
type step struct{ name, base string }

// dropDone removes the drafts that were snapshots already, once no other draft relies
// on them. The lock is given up meanwhile.
func (a *adoption) dropDone() error {
	if len(a.done) == 0 {
		return nil
	}
	var later []drafts.Draft
	for made := range a.saved {
		s := a.slot(made.name)
		later = append(later, a.rebased(s)...)
		later = append(later, a.removalDraft(s)...)
	}
	a.mu.Unlock()
	defer a.mu.Lock()
	if err := a.record(later...); err != nil {
		return err
	}
	return a.Journal.Delete(a.done...)
}

// adopt takes up one draft. The lock is given up meanwhile.
func (a *adoption) adopt(ctx context.Context, d drafts.Draft) error {
	s := a.slot(d.Name)
	base, err := a.base(ctx, d)
	if err != nil {
		return err // the draft waits for the next mount
	}
	ed := &edition{prev: base}
	a.editions[d.Key] = ed
	switch d.State {
	case drafts.Merged:
		s.troubles = append(s.troubles, &trouble{State: d.State, Problem: d.Problem, Data: d.Data, key: d.Key, ed: ed, at: time.Now()})
		return nil
	case drafts.Removed:
		g := &gone{tip: d.Base, ed: base, removing: true, due: time.Now(), key: d.Key}
		for next := g.tip; next != ""; next = a.saved[step{d.Name, g.tip}] {
			g.tip = next // what was saved before the removal
		}
		if s.file != nil {
			a.hide(s, g)
		}
		s.gone = g
		return nil
	}
	if d.State == drafts.Saved {
		id, err := a.since(ctx, d.Name, ed.base(), func(data []byte) bool { return bytes.Equal(data, d.Data) }, int64(len(d.Data)))
		if err != nil {
			return err
		}
		if id != "" {
			a.saved[step{d.Name, ed.base()}] = id
			a.done = append(a.done, d.Key)
			ed.id = id
			return nil
		}
	}
	if s.gone != nil {
		a.takeBack(s)
	}
	p := pathOf(d.Name)
	f := a.newFile(p, 0o644)
	f.data, f.ed, f.name, f.links = contentOf(d.Data), ed, d.Name, 1
	s.file = nil
	a.show(s, f)
	q := &save{file: f, ed: ed, data: d.Data, key: d.Key, ended: true}
	q.force(time.Now())
	s.queue = append(s.queue, q)
	return nil
}

// base returns what a draft was made from. When that was a draft that is gone, it is
// the snapshot that the draft became. The lock is given up meanwhile.
func (a *adoption) base(ctx context.Context, d drafts.Draft) (*edition, error) {
	for _, key := range []string{d.Over, d.After} {
		if e := a.editions[key]; e != nil {
			return e, nil
		}
	}
	id := d.Base
	if d.AfterIs != "" {
		became, err := a.since(ctx, d.Name, d.Base, func(data []byte) bool { return drafts.Sum(data) == d.AfterIs }, -1)
		if err != nil {
			return nil, err
		}
		if became != "" {
			id = became
		}
	}
	if id == "" {
		return nil, nil
	}
	return &edition{id: id}, nil
}

// since returns the newest snapshot of a session that was made after base, and has
// that size, unless it is negative, and bytes that are; "" when there is none. The
// lock is given up meanwhile.
func (t *Tree) since(ctx context.Context, name, base string, are func(data []byte) bool, size int64) (string, error) {
	t.mu.Unlock()
	defer t.mu.Lock()
	history, err := t.Snapshots.History(ctx, name)
	if errors.Is(err, domarkx.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for i := len(history) - 1; i >= 0 && history[i].ID != base; i-- {
		if size >= 0 && history[i].Bytes != size {
			continue
		}
		data, err := t.Snapshots.Markdown(ctx, history[i].ID)
		if err != nil {
			return "", err
		}
		if are(data) {
			return history[i].ID, nil
		}
	}
	return "", nil
}
