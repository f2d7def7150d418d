package engine

import (
	"context"
	"strings"

	"github.com/domarkx/domarkx"
)

// complete returns the text of a call's block with what its resource adds to the
// arguments, so that it can be made again; "" when there is nothing to add, or the
// call cannot be made.
func (b *bench) complete(ctx context.Context, block domarkx.Block) string {
	if block.Language != toolCall {
		return ""
	}
	asked, err := parseCall(block.Text)
	if err != nil {
		return ""
	}
	completed, err := b.live.Defaults(ctx, asked.Resource, asked.Call)
	if err != nil || completed.Arguments.Equal(asked.Arguments) {
		return ""
	}
	v, err := domarkx.ParseValue([]byte(block.Text))
	if err != nil {
		return ""
	}
	v = v.With("arguments", completed.Arguments)
	if strings.Contains(strings.TrimSpace(block.Text), "\n") {
		return string(v.AppendJSON(nil, "", "  "))
	}
	return JSONLine(v)
}

// recorded returns the block of a call as it is recorded.
func (c journalled) recorded() domarkx.Block {
	block := c.Block
	if c.Completed != "" {
		block.Text = c.Completed
	}
	return block
}

// outcomeBlocks returns what is put behind a call, or, when that was completed, in its
// place.
func (t target) outcomeBlocks(o Outcome) []domarkx.Block {
	if t.Completed != "" {
		return []domarkx.Block{t.recorded(), o.block()}
	}
	return []domarkx.Block{o.block()}
}

// goOn lets a session that was approved for this run go on, when the only change since
// is that a call of it was completed.
func (r *runner) goOn(ctx context.Context, before domarkx.Info) error {
	was, err := r.m.digest(ctx, before)
	if err != nil || !r.gate.approved[was] {
		return err
	}
	tip, err := r.tip(ctx)
	if err != nil {
		return err
	}
	for info, err := range r.m.store.History(ctx, tip.ID) {
		if err != nil {
			return err
		}
		if info.ID == tip.ID {
			continue
		}
		if info.ID == before.ID {
			now, err := r.m.digest(ctx, tip)
			if err != nil {
				return err
			}
			r.gate.approved[now] = true
		}
		break
	}
	return nil
}

// trustCompleted extends the trust in a session over a call that was completed, in
// message k of the next state. That is before the session moves: it does no harm where
// that does not come, and no kill in between leaves a session that is not trusted.
func (m *SessionManager) trustCompleted(ctx context.Context, tip domarkx.Info, next *domarkx.State, k int, completed domarkx.Message) error {
	was, err := m.digest(ctx, tip)
	if err != nil {
		return err
	}
	if held, err := m.trusts(ctx, was); err != nil || !held {
		return err
	}
	now, err := m.digestState(ctx, tip.Name, next, func(i int, e domarkx.Entry) (domarkx.Message, error) {
		if i == k {
			return completed, nil
		}
		return loadMessage(ctx, m.store, e)
	})
	if err != nil {
		return err
	}
	return m.growTrust(ctx, now, tip.Name, was)
}
