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
	editions := map[string]*edition{} // by the key of the draft
	var errs []error
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range found {
		if err := t.adopt(ctx, d, editions); err != nil {
			errs = append(errs, fmt.Errorf("taking up what was saved to %q: %w", d.Name, err))
		}
	}
	for _, d := range found {
		t.finish(t.slot(d.Name))
	}
	return errors.Join(errs...)
}

// adopt takes up one draft. The lock is given up meanwhile.
func (t *Tree) adopt(ctx context.Context, d drafts.Draft, editions map[string]*edition) error {
	s := t.slot(d.Name)
	base := editions[d.After]
	if base == nil && d.Base != "" {
		base = &edition{id: d.Base}
	}
	ed := &edition{prev: base}
	editions[d.Key] = ed
	switch d.State {
	case drafts.Merged:
		s.troubles = append(s.troubles, &trouble{State: d.State, Problem: d.Problem, Data: d.Data, key: d.Key, ed: ed, at: time.Now()})
		return nil
	case drafts.Removed:
		g := &gone{tip: d.Base, ed: base, removing: true, due: time.Now(), key: d.Key}
		if s.file != nil {
			t.hide(s, g)
		}
		s.gone = g
		return nil
	}
	t.mu.Unlock()
	id, err := t.alreadySaved(ctx, d, ed.base())
	t.mu.Lock()
	if err != nil {
		return err // the draft waits for the next mount
	}
	if id != "" {
		ed.id = id
		t.mu.Unlock()
		err := t.Journal.Delete(d.Key)
		t.mu.Lock()
		return err
	}
	if s.gone != nil {
		t.takeBack(s)
	}
	p := pathOf(d.Name)
	f := t.newFile(p, 0o644)
	f.data, f.ed, f.name, f.links = contentOf(d.Data), ed, d.Name, 1
	s.file = nil
	t.show(s, f)
	q := &save{file: f, ed: ed, data: d.Data, key: d.Key}
	q.force(time.Now())
	s.queue = append(s.queue, q)
	return nil
}

// alreadySaved returns the snapshot that a save became before its process died:
// one since the base that holds the same bytes; "" when there is none.
func (t *Tree) alreadySaved(ctx context.Context, d drafts.Draft, base string) (string, error) {
	if d.State == drafts.Broken {
		return "", nil
	}
	history, err := t.Snapshots.History(ctx, d.Name)
	if errors.Is(err, domarkx.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for i := len(history) - 1; i >= 0 && history[i].ID != base; i-- {
		if history[i].Bytes != int64(len(d.Data)) {
			continue
		}
		data, err := t.Snapshots.Markdown(ctx, history[i].ID)
		if err != nil {
			return "", err
		}
		if bytes.Equal(data, d.Data) {
			return history[i].ID, nil
		}
	}
	return "", nil
}
