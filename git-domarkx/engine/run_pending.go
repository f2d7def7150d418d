package engine

import (
	"context"

	"github.com/domarkx/domarkx"
)

// next returns the first call of a snapshot that is pending and was not tried in
// this run; nil when there is none.
func (r *runner) next(ctx context.Context, info domarkx.Info) (*target, error) {
	state, err := r.m.store.Load(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	r.ran.Interrupted = nil
	for k, e := range state.Thread.Live {
		if e.Role != domarkx.Assistant {
			continue
		}
		msg, err := r.message(ctx, e)
		if err != nil {
			return nil, err
		}
		all := steps(msg, r.runs)
		if len(all) == 0 {
			continue
		}
		from, err := r.pendingAgain(ctx, info, k, e, msg, all)
		if err != nil {
			return nil, err
		}
		for i, s := range all {
			c := journalled{Session: r.request.Name, Message: e.ID, Index: i, Block: s.block, Before: s.result}
			if r.tried[keyOf(c)] {
				continue
			}
			stopped := s.done && parseOutcome(s.result).Code == domarkx.CodeInterrupted
			switch {
			case !s.done, i >= from, stopped && r.request.Retry:
				c.Tool = s.block.Language
				if s.block.Language == toolCall {
					asked, _ := parseCall(s.block.Text) // what is wrong with it is its outcome
					c.Resource, c.Tool = asked.Resource, asked.Tool
				}
				return &target{journalled: c, operation: "run", prune: i >= from}, nil
			case stopped:
				r.ran.Interrupted = append(r.ran.Interrupted, CallReport{Message: k, Index: i})
			}
		}
	}
	return nil, nil
}

// message reads a message, once when it can run something.
func (r *runner) message(ctx context.Context, e domarkx.Entry) (domarkx.Message, error) {
	if msg, ok := r.messages[e.JSON.ID]; ok {
		return msg, nil
	}
	msg, err := loadMessage(ctx, r.m.store, e)
	if err == nil && len(runnable(msg)) == 0 {
		msg = domarkx.Message{Role: msg.Role}
	}
	if err == nil {
		r.messages[e.JSON.ID] = msg
	}
	return msg, err
}

// pendingAgain returns the first call of a message whose result is that of what the
// message said before an edit; the number of its calls when there is none. Such a
// message lost its link with the edit.
func (r *runner) pendingAgain(ctx context.Context, info domarkx.Info, k int, e domarkx.Entry, msg domarkx.Message, all []step) (int, error) {
	done := false
	for _, s := range all {
		done = done || s.done
	}
	if e.Link != "" || len(e.Past) == 0 || !done {
		return len(all), nil
	}
	key := e.ID.String() + e.JSON.ID
	if from, ok := r.stale[key]; ok {
		return from, nil
	}
	was, linked, err := r.lastLinked(ctx, info, k, e)
	if err != nil {
		return 0, err
	}
	from := len(all)
	if linked {
		var old, now []domarkx.Block
		for _, s := range steps(was, r.runs) {
			old = append(old, s.block)
		}
		for _, s := range all {
			now = append(now, s.block)
		}
		from = firstDifference(old, now)
	}
	r.stale[key] = from
	return from, nil
}

// lastLinked returns what a message said when it was last linked to a version.
func (r *runner) lastLinked(ctx context.Context, info domarkx.Info, k int, e domarkx.Entry) (domarkx.Message, bool, error) {
	for before, err := range r.m.store.History(ctx, info.ID) {
		if err != nil {
			return domarkx.Message{}, false, err
		}
		then, ok, err := r.m.entryOf(ctx, before, k, e.ID)
		if err != nil {
			return domarkx.Message{}, false, err
		}
		switch {
		case !ok:
			return domarkx.Message{}, false, nil
		case then.Link != "":
			msg, err := loadMessage(ctx, r.m.store, then)
			return msg, true, err
		case len(then.Past) == 0:
			return domarkx.Message{}, false, nil
		}
	}
	return domarkx.Message{}, false, nil
}

// entryOf finds a message in a snapshot, which most often is at k.
func (m *SessionManager) entryOf(ctx context.Context, info domarkx.Info, k int, id domarkx.ID) (domarkx.Entry, bool, error) {
	if k < info.Messages {
		if e, err := m.store.Entry(ctx, info.ID, k); err != nil || e.ID == id {
			return e, err == nil, err
		}
	}
	state, err := m.store.Load(ctx, info.ID)
	if err != nil {
		return domarkx.Entry{}, false, err
	}
	for _, e := range state.Thread.Live {
		if e.ID == id {
			return e, true, nil
		}
	}
	return domarkx.Entry{}, false, nil
}
