package turns

import (
	"context"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// complete returns the text of a call's block with the arguments that its resource adds, so that
// the call can be repeated. It returns "" if the resource adds none or the call is invalid.
func (b *openWorkspace) complete(ctx context.Context, block domarkx.Block) string {
	if block.Language != toolcall.Language {
		return ""
	}
	asked, err := toolcall.Parse(block.Text)
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
	return toolcall.JSONLine(v)
}

// recorded returns the block of a call as the session records it.
func (c callRecord) recorded() domarkx.Block {
	block := c.Block
	if c.Completed != "" {
		block.Text = c.Completed
	}
	return block
}

// outcomeBlocks returns the blocks to insert after a call. If the call was completed, they
// replace it.
func (t callTarget) outcomeBlocks(o toolcall.Outcome) []domarkx.Block {
	if t.Completed != "" {
		return []domarkx.Block{t.recorded(), o.Block()}
	}
	return []domarkx.Block{o.Block()}
}

// goOn extends the approval of this run to the new tip, if the only change since before is that
// the resource completed the arguments of a call.
func (r *runner) goOn(ctx context.Context, before domarkx.Info) error {
	was, err := r.m.trust.Digest(ctx, before)
	if err != nil || !r.auth.Approved[was] {
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
			now, err := r.m.trust.Digest(ctx, tip)
			if err != nil {
				return err
			}
			r.auth.Approved[now] = true
		}
		break
	}
	return nil
}

// trustCompleted extends the trust in a session to its next state, in which message k has a
// completed call. It runs before the session moves, so that a process killed in between cannot
// leave an untrusted session. Trust in a state that is never reached does no harm.
func (m *Manager) trustCompleted(ctx context.Context, tip domarkx.Info, next *domarkx.State, k int, completed domarkx.Message) error {
	was, err := m.trust.Digest(ctx, tip)
	if err != nil {
		return err
	}
	if held, err := m.trust.Trusts(ctx, was); err != nil || !held {
		return err
	}
	now, err := m.trust.StateDigest(ctx, tip.Name, next, func(i int, e domarkx.Entry) (domarkx.Message, error) {
		if i == k {
			return completed, nil
		}
		return view.LoadMessage(ctx, m.store, e)
	})
	if err != nil {
		return err
	}
	return m.trust.Grow(ctx, now, tip.Name, was)
}
