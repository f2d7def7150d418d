package turns

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/lock"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A TurnRequest names the session of a turn.
type TurnRequest struct {
	Name string
	New  bool // create the session with the first message if it does not exist
	// Approve is how the user agrees to work once on an untrusted session, and to calls.
	Approve trust.Consent
}

// A Turn is the exclusive right to continue a session with answers of a model and with calls: only
// one process at a time has it. Each method that stores something stores one snapshot, which is
// durable when the method returns. Other commands can change the session meanwhile. The workspace
// is opened on first use, and stays open and locked until the end of the turn.
type Turn struct {
	m       *Manager
	request TurnRequest
	gate    *trust.Gate
	unlock  func()
	bench   *openWorkspace // workspace, nil until needed
	chain   *trust.Chain
}

// BeginTurn begins a turn. It returns a [*lock.BusyError] if another process is in a turn of this
// session, and a [*trust.UntrustedError] if the session is not trusted and the user does not
// approve it. The error matches [domarkx.ErrNotFound] if the session does not exist. Calls without
// a result need no trust here: [Turn.Make] is for calls that [Turn.Approve] permits.
func (m *Manager) BeginTurn(ctx context.Context, r TurnRequest) (*Turn, error) {
	t := &Turn{m: m, request: r, gate: m.trust.Gate(r.Approve), chain: &trust.Chain{}}
	info, err := t.Tip(ctx)
	if err != nil {
		return nil, err
	}
	if t.unlock, err = lock.Turn(ctx, m.env.StateDir, r.Name, "chat"); err != nil {
		return nil, err
	}
	if info.ID != "" {
		if err := t.check(ctx); err != nil {
			t.unlock()
			return nil, err
		}
	}
	return t, nil
}

// Close ends the turn: it ends everything that runs for the workspace.
func (t *Turn) Close(ctx context.Context) error {
	defer t.unlock()
	return t.closeBench(ctx)
}

func (t *Turn) closeBench(ctx context.Context) error {
	if t.bench == nil {
		return nil
	}
	b := t.bench
	t.bench = nil
	return b.close(ctx)
}

// Tip returns the newest snapshot of the session. Before the first message of a new session, it
// has no id.
func (t *Turn) Tip(ctx context.Context) (domarkx.Info, error) {
	info, err := t.m.store.Tip(ctx, t.request.Name)
	if errors.Is(err, domarkx.ErrNotFound) && t.request.New {
		err = nil
	}
	info.Name = t.request.Name
	return info, err
}

// Header returns the header of the session.
func (t *Turn) Header(ctx context.Context) (domarkx.Header, error) {
	tip, err := t.Tip(ctx)
	if err != nil || tip.ID == "" {
		return domarkx.NewHeader(), err
	}
	return view.Header(ctx, t.m.store, tip.ID)
}

// check returns an *trust.UntrustedError unless everything that the session runs, except calls without a
// result, is trusted or approved.
func (t *Turn) check(ctx context.Context) error {
	tip, err := t.Tip(ctx)
	if err != nil {
		return err
	}
	_, err = t.gate.Permit(ctx, trust.Session{Info: tip, Settled: true})
	return err
}

// open opens the workspace, unless it is open. It records the calls that a killed process left.
func (t *Turn) open(ctx context.Context) error {
	if t.bench != nil {
		return nil
	}
	if err := t.check(ctx); err != nil {
		return err
	}
	tip, err := t.Tip(ctx)
	if err != nil {
		return err
	}
	b, err := t.m.open(ctx, t.gate, trust.Session{Info: tip, Settled: true})
	if err != nil {
		return err
	}
	b.chain = t.chain
	if err := b.prepare(ctx, t.request.Name, false); err != nil {
		return errors.Join(err, b.close(ctx))
	}
	t.bench = b
	return nil
}

// Recover records calls of the session that were interrupted when their process was killed. They
// are not made again.
func (t *Turn) Recover(ctx context.Context) error {
	left, err := t.m.interruptedIn(t.request.Name)
	if err != nil || len(left) == 0 {
		return err
	}
	return t.open(ctx)
}

// link returns the version to link to an answer: that of the live workspace, after changes that
// were made by hand are committed.
func (t *Turn) link(ctx context.Context) (string, error) {
	if t.bench == nil {
		return t.m.replyLink(ctx, t.request.Name)
	}
	if err := t.bench.commitChanges(ctx); err != nil && ctx.Err() != nil {
		return "", err
	} // otherwise the next call reports what cannot be stored
	return t.bench.tip.ID, nil
}

// MessagesBackward returns the messages of a snapshot, the last one first. It reads them in parts. The error matches
// [domarkx.ErrCorrupt] if some are missing.
func (m *Manager) MessagesBackward(ctx context.Context, snapshot domarkx.Info) iter.Seq2[domarkx.Entry, error] {
	const most = 4096
	return func(yield func(domarkx.Entry, error) bool) {
		step := 16
		for end := snapshot.Messages; end > 0; step = min(4*step, most) {
			from := max(0, end-step)
			entries, err := m.store.EntriesBetween(ctx, snapshot.ID, from, end)
			if err == nil && len(entries) != end-from {
				err = fmt.Errorf("snapshot %s: %w: %d messages, expected %d", snapshot.ID, domarkx.ErrCorrupt, len(entries)+from, end)
			}
			if err != nil {
				yield(domarkx.Entry{}, err)
				return
			}
			for _, e := range slices.Backward(entries) {
				if !yield(e, nil) {
					return
				}
			}
			end = from
		}
	}
}
