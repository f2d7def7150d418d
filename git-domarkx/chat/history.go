package chat

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// An item is a message of the conversation in a request.
type item struct {
	*known
	// uncounted means that the message's usage includes messages that this request omits.
	uncounted bool
}

// history returns the system prompts and the messages for a request, in order. If there is a
// summary, it replaces all messages before it.
func (t *turn) history(ctx context.Context) (system []string, items []item, err error) {
	tip, err := t.Tip(ctx)
	if err != nil || tip.ID == "" {
		return nil, nil, err
	}
	header, err := t.Header(ctx)
	if err != nil {
		return nil, nil, err
	}
	if v, _ := header.ExecutionConfig.Get("system"); v.Kind() == jsonvalue.String && strings.TrimSpace(v.Text()) != "" {
		system = append(system, v.Text())
	}
	backward, summary, err := t.backward(ctx, tip)
	if err != nil {
		return nil, nil, err
	}
	if summary >= 0 {
		first, err := t.leadingSystem(ctx, tip)
		if err != nil {
			return nil, nil, err
		}
		system = append(system, first...)
		items = append(items, backward[summary])
	}
	for i, m := range slices.Backward(backward) {
		m.uncounted = summary >= 0 && i > summary
		switch {
		case i == summary:
		case m.system:
			system = append(system, m.text)
		default:
			items = append(items, m)
		}
	}
	return system, items, nil
}

// backward returns the messages in reverse order, from the last one to the first that the newest
// summary does not replace. summary is the index of the newest summary in them, or -1 for none.
func (t *turn) backward(ctx context.Context, tip domarkx.Info) (backward []item, summary int, err error) {
	summary, end := -1, ""
	for last, step := tip.Messages, 64; last > 0; step *= 4 {
		first := max(0, last-step) / snapshot.LeafWidth * snapshot.LeafWidth
		part, err := t.between(ctx, tip, first, last)
		if err != nil {
			return nil, 0, err
		}
		for _, i := range slices.Backward(part) {
			if summary >= 0 && i.id.String() == end {
				return backward, summary, nil
			}
			if i.compacts != "" && summary >= 0 {
				continue // an older summary, which the newest one replaces
			}
			backward = append(backward, i)
			if i.compacts != "" {
				summary, end = len(backward)-1, i.compacts
			}
		}
		last = first
	}
	return backward, summary, nil
}

// between returns messages first to last-1. first is a multiple of
// [snapshot.LeafWidth]; last is too, or is the number of messages.
func (t *turn) between(ctx context.Context, tip domarkx.Info, first, last int) ([]item, error) {
	leaves, err := t.chat.store.LeavesBetween(ctx, tip.ID, first, last)
	if err != nil {
		return nil, err
	}
	read, final := make([][]known, len(leaves)), make([]bool, len(leaves))
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0))
	for i, leaf := range leaves {
		if read[i] = t.memory.leaves[leaf.ID]; read[i] == nil {
			readers.Go(func() (err error) {
				read[i], final[i], err = t.read(ctx, tip, leaf)
				return err
			})
		}
	}
	if err := readers.Wait(); err != nil {
		return nil, err
	}
	for i, leaf := range leaves {
		if final[i] {
			t.memory.leaves[leaf.ID] = read[i]
		}
	}
	items := make([]item, 0, last-first)
	for _, messages := range read {
		for i := range messages {
			items = append(items, item{known: &messages[i]})
		}
	}
	return items, nil
}

// read reads a leaf. final means that the result may be cached by the leaf's id: it depends on
// nothing else, and the leaf is full.
func (t *turn) read(ctx context.Context, tip domarkx.Info, leaf snapshot.Leaf) (messages []known, final bool, err error) {
	entries, err := t.chat.store.LeafEntries(ctx, leaf)
	if err != nil {
		return nil, false, err
	}
	messages = make([]known, len(entries))
	final = len(entries) == snapshot.LeafWidth
	for i, e := range entries {
		msg, err := view.LoadMessage(ctx, t.chat.store, e)
		if err != nil {
			return nil, false, err
		}
		messages[i] = t.convert(e.ID, msg)
		found, err := t.addRaw(ctx, tip, &messages[i], msg)
		if err != nil {
			return nil, false, err
		}
		final = final && found
	}
	return messages, final, nil
}

// leadingSystem returns the system messages at the beginning of the session.
func (t *turn) leadingSystem(ctx context.Context, tip domarkx.Info) (system []string, err error) {
	for first := 0; first < tip.Messages; first += snapshot.LeafWidth {
		items, err := t.between(ctx, tip, first, min(first+snapshot.LeafWidth, tip.Messages))
		if err != nil {
			return nil, err
		}
		for _, m := range items {
			if !m.system {
				return system, nil
			}
			system = append(system, m.text)
		}
	}
	return system, nil
}
