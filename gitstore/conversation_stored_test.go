package gitstore_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

// oneByOne yields entries, and then err.
func oneByOne(entries []domarkx.Entry, err error) iter.Seq2[*domarkx.Entry, error] {
	return func(yield func(*domarkx.Entry, error) bool) {
		for _, e := range entries {
			if !yield(&e, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// TestStoreConversation checks that storing messages one by one gives the same conversation as a commit
// of all, and that snapshots can continue each other within an update.
func TestStoreConversation(t *testing.T) {
	s, _ := newStore(t)
	ctx := context.Background()
	for _, n := range []int{0, 1, 15, 16, 17, 512, 700} {
		if testing.Short() && n > 512 {
			continue
		}
		state := conversation(n)
		update(t, s, func(tx *gitstore.Tx) error {
			var parents []string
			for _, length := range []int{n / 2, n} {
				live := state.Thread.Live[:length]
				stored, err := tx.StoreConversation(ctx, parents, oneByOne(slices.Clone(live), nil))
				if err != nil {
					return err
				}
				if stored.Messages != length {
					t.Errorf("%d of %d messages", stored.Messages, length)
				}
				c := commitOf(&domarkx.State{Headers: slices.Clone(state.Headers)}, parents...)
				c.Conversation = stored
				info, err := tx.Commit(ctx, c)
				if err != nil {
					return err
				}
				whole, err := tx.Commit(ctx, commitOf(&domarkx.State{Headers: slices.Clone(state.Headers), Thread: domarkx.Thread{Live: live}}, parents...))
				if err != nil || whole.ID != info.ID {
					t.Errorf("%d messages: stored one by one %s, together %s, %v", length, info.ID, whole.ID, err)
				}
				parents = []string{info.ID}
			}
			return tx.Set(ctx, "s"+string(rune('a'+n%26)), parents[0])
		})
		tip, err := s.Tip(ctx, "s"+string(rune('a'+n%26)))
		if err != nil {
			t.Fatal(err)
		}
		read, err := s.Load(ctx, tip.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(state.Thread, read.Thread, storedEqual); diff != "" {
			t.Errorf("%d messages: %s", n, diff)
		}
	}
}

func TestStoreConversationErrors(t *testing.T) {
	s, _ := newStore(t)
	ctx := context.Background()
	state := conversation(40)
	ended := errors.New("ended")
	update(t, s, func(tx *gitstore.Tx) error {
		if _, err := tx.StoreConversation(ctx, nil, oneByOne(state.Thread.Live, ended)); !errors.Is(err, ended) {
			t.Errorf("the error of a message: %v", err)
		}
		if _, err := tx.StoreConversation(ctx, nil, oneByOne([]domarkx.Entry{{}}, nil)); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("a message without content: %v", err)
		}
		stored, err := tx.StoreConversation(ctx, nil, oneByOne(slices.Clone(state.Thread.Live), nil))
		if err != nil {
			return err
		}
		c := commitOf(state)
		c.Conversation = stored
		if _, err := tx.Commit(ctx, c); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("messages besides those that are stored: %v", err)
		}
		return nil
	})
}
