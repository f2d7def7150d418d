package fusefs

import (
	"context"
	"errors"

	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/sessions"
)

// TakeOver completes the work that dead servers acknowledged, without a mount: it creates
// snapshots and removes sessions. Failed work stays in the journal. It needs the options
// of a writable mount except for the directory.
func TakeOver(ctx context.Context, o Options) error {
	journal, err := drafts.Open(o.Drafts)
	if err != nil {
		return err
	}
	found, err := journal.Adopt()
	tree := o.tree(func(ctx context.Context, id string) ([]byte, error) { return o.Snapshots.Render(ctx, id, Markdown) }, journal)
	return errors.Join(err, tree.Adopt(ctx, found), tree.Close(ctx), journal.Close())
}

// tree returns the directory of sessions. markdown returns a snapshot as its author saved it.
func (o Options) tree(markdown func(ctx context.Context, id string) ([]byte, error), journal sessions.Journal) *sessions.Tree {
	return sessions.New(sessions.Config{
		Sessions: o.Sessions, Snapshots: store{o.Snapshots, markdown}, Saver: o.Saver,
		Attachments: o.Attachments, Attacher: o.Attacher, Journal: journal, Scratch: o.Drafts,
		Logger: o.Logger, Timing: o.Timing,
	})
}

// A store provides snapshots to package sessions.
type store struct {
	Snapshots
	markdown func(ctx context.Context, id string) ([]byte, error)
}

func (s store) Markdown(ctx context.Context, id string) ([]byte, error) { return s.markdown(ctx, id) }
