package search

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
)

// history indexes the messages of all snapshots of a session, for queries with History.
func (u *updater) history(ctx context.Context, info domarkx.Info) error {
	session := u.db.number("SELECT id FROM session WHERE name = ? AND history IS NOT ?", info.Name, binaryID(info.ID))
	if session == 0 {
		return nil
	}
	for snapshot, err := range u.store.Ancestors(ctx, info.ID) {
		if err == nil {
			err = u.snapshot(ctx, session, snapshot.ID)
		}
		if err != nil {
			return err
		}
	}
	u.db.exec("UPDATE session SET history = ? WHERE id = ?", binaryID(info.ID), session)
	return nil
}

// snapshot records the messages of a snapshot in the table past, except those that are recorded for a newer snapshot of
// the session. It skips directories whose messages are recorded.
func (u *updater) snapshot(ctx context.Context, session int64, id string) error {
	var trees [][]byte
	skip := func(directory string) bool {
		tree := binaryID(directory)
		trees = append(trees, tree)
		return u.db.number("SELECT 1 FROM walked WHERE session = ? AND tree = ?", session, tree) != 0
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
			u.db.exec("INSERT OR IGNORE INTO past(message, session, snapshot, k, date) VALUES(?, ?, ?, ?, ?)", message, session, binaryID(id), leaf.First+i, e.Date)
		}
		if err := u.pause(ctx); err != nil {
			return err
		}
	}
	for _, tree := range trees { // only after all messages in them, which other transactions may have added
		u.db.exec("INSERT OR IGNORE INTO walked(session, tree) VALUES(?, ?)", session, tree)
	}
	return u.db.err
}
