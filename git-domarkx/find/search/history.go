package search

import (
	"context"
	"errors"

	"github.com/domarkx/domarkx/format/domarkx"
)

// history indexes the messages of all snapshots of a session, for queries with History.
func (u *updater) history(ctx context.Context, info domarkx.Info) error {
	session, err := u.db.number("SELECT id FROM session WHERE name = ? AND history IS NOT ?", info.Name, binaryID(info.ID))
	if err != nil || session == 0 {
		return err
	}
	for snapshot, err := range u.store.Ancestors(ctx, info.ID) {
		if err != nil {
			return err
		}
		if err := u.snapshot(ctx, session, snapshot.ID); err != nil {
			return err
		}
	}
	return u.db.exec("UPDATE session SET history = ? WHERE id = ?", binaryID(info.ID), session)
}

// snapshot records the messages of a snapshot in the table past, except those that are recorded for a newer snapshot of
// the session. It skips directories whose messages are recorded.
func (u *updater) snapshot(ctx context.Context, session int64, id string) error {
	var trees [][]byte
	var failed error
	skip := func(directory string) bool {
		tree := binaryID(directory)
		n, err := u.db.number("SELECT 1 FROM walked WHERE session = ? AND tree = ?", session, tree)
		trees = append(trees, tree)
		failed = errors.Join(failed, err)
		return n != 0 || failed != nil
	}
	for leaf, err := range u.store.Leaves(ctx, id, skip) {
		if err != nil {
			return err
		}
		entries, err := u.store.LeafEntries(ctx, leaf)
		if err != nil {
			return err
		}
		for i, e := range entries {
			message, err := u.message(ctx, e)
			if err != nil {
				return err
			}
			err = u.db.exec("INSERT OR IGNORE INTO past(message, session, snapshot, k, date) VALUES(?, ?, ?, ?, ?)", message, session, binaryID(id), leaf.First+i, e.Date)
			if err != nil {
				return err
			}
		}
		if err := u.pause(ctx); err != nil {
			return err
		}
	}
	for _, tree := range trees { // only after all messages in them, which other transactions may have added
		if failed == nil {
			failed = u.db.exec("INSERT OR IGNORE INTO walked(session, tree) VALUES(?, ?)", session, tree)
		}
	}
	return failed
}
