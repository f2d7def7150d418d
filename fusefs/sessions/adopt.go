package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
	"github.com/domarkx/domarkx/fusefs/sessions/content"
)

// Adopt completes the work that an earlier mount acknowledged: saves become snapshots,
// sessions are removed, and errors/ shows broken saves again. found holds the drafts of
// the journal in the order of their creation. Work that fails is retried in the
// background after Adopt returns.
func (t *Tree) Adopt(ctx context.Context, found []drafts.Draft) error {
	if len(found) == 0 {
		return nil
	}
	var errs []error
	// A child of the dead mount may still be storing a save. If it ended only after the
	// check below, the save would be stored twice and merged with itself.
	if err := t.Saver.Settle(ctx); err != nil {
		errs = append(errs, fmt.Errorf("waiting for work of an earlier mount: %w", err))
	}
	a := adoption{Tree: t, versions: map[string]*basis.Version{}, saved: map[step]string{}}
	for _, d := range found {
		if d.State == drafts.Beside {
			t.state.Do(func(st *state) {
				st.adoptFile(d)
				st.attachSoon()
			})
			continue
		}
		if err := a.adopt(ctx, d); err != nil {
			errs = append(errs, fmt.Errorf("adopting a draft of %q: %w", d.Name, err))
		}
	}
	errs = append(errs, a.dropDone())
	for _, d := range found {
		if d.State != drafts.Beside {
			t.finish(t.session(d.Name))
		}
	}
	return errors.Join(errs...)
}

// An adoption is the state of one call of [Tree.Adopt].
type adoption struct {
	*Tree
	versions map[string]*basis.Version // by the key of the draft
	saved    map[step]string           // snapshots that the earlier mount made of drafts
	done     []string                  // keys of the drafts that became those snapshots
}

// A step identifies a save that became a snapshot, by the session and the snapshot that it
// was made from.
type step struct{ name, base string }

// dropDone deletes the drafts that had become snapshots already, after it has updated the
// drafts that refer to them.
func (a *adoption) dropDone() error {
	if len(a.done) == 0 {
		return nil
	}
	var later []drafts.Draft
	a.state.Do(func(st *state) {
		for made := range a.saved {
			s := st.session(made.name)
			later = append(append(later, s.rebased()...), s.removalDraft()...)
		}
	})
	if err := a.record(later...); err != nil {
		return err
	}
	return a.Journal.Delete(a.done...)
}

// adopt restores one draft.
func (a *adoption) adopt(ctx context.Context, d drafts.Draft) error {
	base, err := a.base(ctx, d)
	if err != nil {
		return err // the draft waits for the next mount
	}
	version := &basis.Version{Prev: base}
	a.versions[d.Key] = version
	if d.State == drafts.Saved {
		from := ""
		a.state.Do(func(*state) { from = version.Base() })
		id, err := a.since(ctx, d.Name, from, func(data []byte) bool { return bytes.Equal(data, d.Data) }, int64(len(d.Data)))
		if err != nil {
			return err
		}
		if id != "" {
			a.saved[step{d.Name, from}] = id
			a.done = append(a.done, d.Key)
			version.ID = id
			return nil
		}
	}
	a.state.Do(func(st *state) {
		switch d.State {
		case drafts.Merged:
			s := st.session(d.Name)
			s.saveErrors = append(s.saveErrors, &saveError{State: d.State, Problem: d.Problem, Data: d.Data, key: d.Key, version: version, at: time.Now()})
		case drafts.Removed:
			tip := d.Base
			for next := tip; next != ""; next = a.saved[step{d.Name, tip}] {
				tip = next // saves that preceded the removal
			}
			g := &pendingRemoval{tip: tip, version: base, removing: true, due: time.Now(), key: d.Key}
			s := st.session(d.Name)
			if s.file != nil {
				st.hide(s, g)
			}
			s.removal = g
		default:
			st.adoptSave(d, version)
		}
	})
	return nil
}

// adoptSave restores a save from its draft.
func (st *state) adoptSave(d drafts.Draft, version *basis.Version) {
	s := st.session(d.Name)
	if s.removal != nil {
		st.takeBack(s)
	}
	f := st.newFile(pathOf(d.Name), 0o644)
	f.data, f.version, f.name, f.links = content.Of(d.Data), version, d.Name, 1
	s.file = nil
	st.show(s, f)
	q := &save{file: f, version: version, data: d.Data, key: d.Key, ended: true}
	q.force(time.Now())
	s.queue = append(s.queue, q)
}

// base returns the version that a draft was made from. If it was made from a draft that
// no longer exists, that is the snapshot that the older draft became.
func (a *adoption) base(ctx context.Context, d drafts.Draft) (*basis.Version, error) {
	for _, key := range []string{d.Over, d.After} {
		if e := a.versions[key]; e != nil {
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
	return &basis.Version{ID: id}, nil
}

// since returns the newest snapshot of a session, among those after base, whose bytes
// matches accepts, or "". size is the number of bytes, or negative if it is unknown.
func (t *Tree) since(ctx context.Context, name, base string, matches func(data []byte) bool, size int64) (string, error) {
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
		if matches(data) {
			return history[i].ID, nil
		}
	}
	return "", nil
}
