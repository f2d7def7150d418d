package fusefs

import (
	"context"
	"errors"
	"log/slog"

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
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	found, err := journal.Adopt()
	tree := sessions.New(sessions.Config{
		Sessions: o.Sessions, Snapshots: asMarkdown{o.Snapshots}, Names: o.Names, Saver: o.Saver,
		Attachments: o.Attachments, Attacher: o.Attacher, Journal: journal, Scratch: o.Drafts, Logger: o.Logger, Timing: o.Timing,
	})
	return errors.Join(err, tree.Adopt(ctx, found), tree.Close(ctx), journal.Close())
}

// asMarkdown provides snapshots to package sessions.
type asMarkdown struct{ Snapshots }

// Markdown returns a snapshot as its author saved it.
func (s asMarkdown) Markdown(ctx context.Context, id string) ([]byte, error) {
	return s.Render(ctx, id, Markdown)
}
