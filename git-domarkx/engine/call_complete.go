package engine

import (
	"context"
	"strings"

	"github.com/domarkx/domarkx"
)

// complete returns the text of a call's block with the arguments that its resource adds, so that
// the call can be repeated. It returns "" if the resource adds none or the call is invalid.
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

// recorded returns the block of a call as the session records it.
func (c journalled) recorded() domarkx.Block {
	block := c.Block
	if c.Completed != "" {
		block.Text = c.Completed
	}
	return block
}

// outcomeBlocks returns the blocks to insert after a call. If the call was completed, they
// replace it.
func (t target) outcomeBlocks(o Outcome) []domarkx.Block {
	if t.Completed != "" {
		return []domarkx.Block{t.recorded(), o.block()}
	}
	return []domarkx.Block{o.block()}
}

// goOn extends the approval of this run to the new tip, if the only change since before is that
// the resource completed the arguments of a call.
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

// trustCompleted extends the trust in a session to its next state, in which message k has a
// completed call. It runs before the session moves, so that a process killed in between cannot
// leave an untrusted session. Trust in a state that is never reached does no harm.
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
