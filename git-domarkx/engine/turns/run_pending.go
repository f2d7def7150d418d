package turns

import (
	"context"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/journal"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// next returns the first pending call of a snapshot that this run has not tried, or nil.
func (r *runner) next(ctx context.Context, info domarkx.Info) (*callTarget, error) {
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
		all := toolcall.Steps(msg, r.runs)
		if len(all) == 0 {
			continue
		}
		from, err := r.pendingAgain(ctx, info, k, e, msg, all)
		if err != nil {
			return nil, err
		}
		for i, s := range all {
			c := journal.Call{Session: r.request.Name, Message: e.ID, Index: i, Block: s.Block, Before: s.Result}
			if s.Declined || r.tried[keyOf(c)] {
				continue
			}
			stopped := s.Done && toolcall.ParseOutcome(s.Result).Code == domarkx.CodeInterrupted
			switch {
			case !s.Done, i >= from, stopped && r.request.Retry:
				c.Tool = s.Block.Language
				if s.Block.Language == toolcall.Language {
					asked, _ := toolcall.Parse(s.Block.Text) // perform reports a parse error as the outcome
					c.Resource, c.Tool = asked.Resource, asked.Tool
				}
				return &callTarget{Call: c, operation: "run", prune: i >= from}, nil
			case stopped:
				r.ran.Interrupted = append(r.ran.Interrupted, CallResult{Message: k, Index: i})
			}
		}
	}
	return nil, nil
}

// message loads a message. It caches messages, without the content of those that run nothing.
func (r *runner) message(ctx context.Context, e domarkx.Entry) (domarkx.Message, error) {
	if msg, ok := r.messages[e.JSON.ID]; ok {
		return msg, nil
	}
	msg, err := view.LoadMessage(ctx, r.m.store, e)
	if err == nil && len(toolcall.Runnable(msg)) == 0 {
		msg = domarkx.Message{Role: msg.Role}
	}
	if err == nil {
		r.messages[e.JSON.ID] = msg
	}
	return msg, err
}

// pendingAgain returns the index of the first call of a message whose result belongs to an earlier text of the message, or
// the number of calls if there is none. Only messages that lost their link in an edit, or never had one, have such calls.
func (r *runner) pendingAgain(ctx context.Context, info domarkx.Info, k int, e domarkx.Entry, msg domarkx.Message, all []toolcall.Step) (int, error) {
	done := slices.ContainsFunc(all, func(s toolcall.Step) bool { return s.Done })
	if e.Link != "" || len(e.Past) == 0 || !done {
		return len(all), nil
	}
	key := e.ID.String() + e.JSON.ID
	if from, ok := r.stale[key]; ok {
		return from, nil
	}
	before, err := r.before(ctx, info, k, e)
	if err != nil {
		return 0, err
	}
	from := before.firstStale(all)
	r.stale[key] = from
	return from, nil
}

// A messagePast describes the earlier texts of a message.
type messagePast struct {
	// linked holds the calls that the message had when it was last linked to a version. made
	// reports whether it was ever linked.
	linked []toolcall.Step
	made   bool
	// owners maps each result to the calls that it originally followed.
	owners map[string][]toolcall.Step
}

// firstStale returns the index of the first call whose result belongs to another call.
func (p messagePast) firstStale(now []toolcall.Step) int {
	if p.made {
		return toolcall.FirstDifference(p.linked, now)
	}
	for i, s := range now {
		owners, ok := p.owners[s.Result]
		own := func(was toolcall.Step) bool { return toolcall.SameCode(was.Block, s.Block) }
		if s.Done && ok && !slices.ContainsFunc(owners, own) {
			return i
		}
	}
	return len(now)
}

// before collects the earlier texts of a message, back to its last link or to the snapshot that added it. For messages
// imported from another program's transcript it returns nothing: their calls are records, even if they were edited.
func (r *runner) before(ctx context.Context, info domarkx.Info, k int, e domarkx.Entry) (messagePast, error) {
	past := messagePast{owners: map[string][]toolcall.Step{}}
	var first domarkx.Info // the snapshot that added the message
	last, merged := e.JSON.ID, false
	for snapshot, err := range r.m.store.History(ctx, info.ID) {
		if err != nil {
			return past, err
		}
		then, ok, err := r.m.entryOf(ctx, snapshot, k, e.ID)
		if err != nil {
			return past, err
		}
		if !ok {
			if merged { // the other side of the merge may contain it
				continue
			}
			break
		}
		first, merged = snapshot, merged || snapshot.Operation == "merge"
		if then.JSON.ID != last || then.Link != "" {
			last = then.JSON.ID
			msg, err := view.LoadMessage(ctx, r.m.store, then)
			if err != nil {
				return past, err
			}
			was := toolcall.Steps(msg, r.runs)
			if then.Link != "" {
				return messagePast{linked: was, made: true}, nil
			}
			owners := map[string][]toolcall.Step{}
			for _, s := range was {
				if s.Done {
					owners[s.Result] = append(owners[s.Result], s)
				}
			}
			maps.Copy(past.owners, owners)
		}
		if len(then.Past) == 0 && !merged {
			break
		}
	}
	isRecord, err := r.m.isTranscript(ctx, first)
	if err != nil || isRecord {
		return messagePast{}, err
	}
	return past, nil
}

// isTranscript reports whether a snapshot was imported from another program's document.
func (m *Manager) isTranscript(ctx context.Context, snapshot domarkx.Info) (bool, error) {
	if snapshot.Operation != "import" {
		return false, nil
	}
	headers, err := m.store.Header(ctx, snapshot.ID)
	if err != nil || headers[0].Origin == "" {
		return false, err
	}
	origin, err := m.store.Origin(ctx, headers[0].Origin)
	return err == nil && !engine.IsForm(origin.Format), err
}

// entryOf finds a message in a snapshot by its id. It tries index k first.
func (m *Manager) entryOf(ctx context.Context, info domarkx.Info, k int, id domarkx.ID) (domarkx.Entry, bool, error) {
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
