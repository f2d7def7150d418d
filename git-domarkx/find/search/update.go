package search

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/find/search/content"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// batchSize is about how many bytes of text one transaction adds to the index.
const batchSize = 64 << 20

// indexed is what the index records of a session.
type indexed struct {
	id      int64
	tip     string
	history string // the tip up to which the history is indexed; "" if it is not
}

const selectSessions = "SELECT id, name, tip, history FROM session"

func (d *database) sessions() map[string]indexed {
	known := map[string]indexed{}
	for s := range d.rows(selectSessions) {
		tip, _ := s.Column(2).([]byte)
		history, _ := s.Column(3).([]byte)
		known[s.Column(1).(string)] = indexed{s.Int(0), hex.EncodeToString(tip), hex.EncodeToString(history)}
	}
	return known
}

// isCurrent reports whether the index has these tips of sessions, which are given by name.
func isCurrent(known map[string]indexed, tips map[string]string, history bool) bool {
	for name, tip := range tips {
		if k := known[name]; k.tip != tip || history && k.history != tip {
			return false
		}
	}
	return len(known) == len(tips)
}

const setTip = "UPDATE session SET tip = ? WHERE id = ?"

// An updater updates the index.
type updater struct {
	store   *gitstore.Store
	db      *database
	w       *writer
	options Options
	content content.Message  // content of the message that is being indexed
	done    int              // number of messages that were indexed
	tips    map[int64][]byte // tips of the rewritten sessions, by number of the session
}

// update updates the index to these sessions. If a session no longer exists or was rewritten, or if purge is set, it
// removes the messages that no session contains any more.
func (d *database) update(ctx context.Context, store *gitstore.Store, list []domarkx.Info, o Options, purge bool) error {
	d.begin("IMMEDIATE")
	u := &updater{store: store, db: d, options: o, tips: map[int64][]byte{}, w: newWriter(d)}
	if err := d.end(u.run(ctx, list, purge)); err != nil || !d.purged {
		return err
	}
	return d.compact()
}

func (u *updater) run(ctx context.Context, list []domarkx.Info, purge bool) error {
	known := u.db.sessions()
	for _, info := range list {
		k, ok := known[info.Name]
		delete(known, info.Name)
		rewritten, err := u.session(ctx, info, k, ok)
		purge = purge || rewritten
		if err == nil && u.options.History {
			err = u.history(ctx, info)
		}
		switch {
		case u.db.err != nil:
			return u.db.err
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			u.skip(info.Name, err)
		}
	}
	for _, k := range known {
		purge = true
		u.forget(k.id)
	}
	if u.w.flush(); !purge {
		return nil
	}
	for id, tip := range u.tips { // in the transaction of the purge, so that an update that was stopped before it is repeated
		u.db.exec(setTip, tip, id)
	}
	u.db.purge()
	return nil
}

// skip reports that a session cannot be read, and removes the session from the index.
func (u *updater) skip(name string, err error) {
	if u.options.Warn != nil {
		u.options.Warn(fmt.Errorf("session %q is not searched: %w", name, err))
	}
	u.forget(u.db.number("SELECT id FROM session WHERE name = ?", name))
}

// forget removes a session from the index, but not its messages.
func (u *updater) forget(id int64) {
	u.clear(id, "place", "past", "walked")
	u.db.exec("DELETE FROM session WHERE id = ?", id)
}

// clear removes the rows of a session from tables.
func (u *updater) clear(id int64, tables ...string) {
	for _, table := range tables {
		u.db.exec("DELETE FROM "+table+" WHERE session = ?", id)
	}
}

// session indexes the tip of a session. rewritten reports whether the tip that was indexed before is not an ancestor of
// the present one; its tip is then recorded later.
func (u *updater) session(ctx context.Context, info domarkx.Info, k indexed, known bool) (rewritten bool, err error) {
	if known && k.tip == info.ID {
		return false, nil
	}
	if known {
		ancestor, err := u.store.IsAncestor(ctx, k.tip, info.ID)
		rewritten = err != nil || !ancestor // an error means that Git has removed the old tip
	}
	if rewritten {
		u.clear(k.id, "past", "walked")
		u.db.exec("UPDATE session SET history = NULL WHERE id = ?", k.id)
	}
	var leaves []int64
	for leaf, err := range u.store.Leaves(ctx, info.ID, nil) {
		var id int64
		if err == nil {
			id, err = u.leaf(ctx, leaf)
		}
		if err != nil {
			return rewritten, err
		}
		leaves = append(leaves, id)
	}
	switch tip := binaryID(info.ID); {
	case !known:
		u.db.exec("INSERT INTO session(name, tip) VALUES(?, ?)", info.Name, tip)
		k.id = u.db.conn.LastInsert()
	case rewritten:
		u.tips[k.id] = tip
	default:
		u.db.exec(setTip, tip, k.id)
	}
	u.place(k.id, leaves)
	return rewritten, nil
}

// place records the leaves of a session's tip.
func (u *updater) place(session int64, leaves []int64) {
	var before []int64
	for s := range u.db.rows("SELECT leaf FROM place WHERE session = ? ORDER BY number", session) {
		before = append(before, s.Int(0))
	}
	for i, leaf := range leaves {
		switch {
		case i >= len(before):
			u.db.exec("INSERT INTO place(session, number, leaf) VALUES(?, ?, ?)", session, i, leaf)
		case before[i] != leaf:
			u.db.exec("UPDATE place SET leaf = ? WHERE session = ? AND number = ?", leaf, session, i)
		}
	}
	if len(before) > len(leaves) {
		u.db.exec("DELETE FROM place WHERE session = ? AND number >= ?", session, len(leaves))
	}
}

// leaf returns the number of a leaf in the index. If the leaf is new, it indexes the messages in it.
func (u *updater) leaf(ctx context.Context, leaf snapshot.Leaf) (int64, error) {
	tree := binaryID(leaf.ID)
	if id := u.db.number("SELECT id FROM leaf WHERE tree = ?", tree); id != 0 {
		return id, nil
	}
	messages, err := u.store.LeafEntries(ctx, leaf)
	if err != nil {
		return 0, err
	}
	entries := make([]leafEntry, len(messages))
	for i, e := range messages {
		message, err := u.message(ctx, e)
		if err != nil {
			return 0, err
		}
		entries[i] = leafEntry{message, e.Date}
	}
	return u.w.addLeaf(tree, entries), u.pause(ctx)
}

// message returns the number of a message in the index. If the message is new, it indexes the message.
func (u *updater) message(ctx context.Context, e domarkx.Entry) (int64, error) {
	blob := binaryID(e.JSON.ID)
	if id := u.db.number("SELECT id FROM message WHERE blob = ?", blob); id != 0 {
		return id, nil
	}
	data, err := view.Read(ctx, u.store, e.JSON)
	if err != nil {
		return 0, err
	}
	m, err := view.DecodeMessage(data, e.ID)
	if err != nil {
		return 0, err
	}
	u.content.Set(m)
	u.done++
	if u.options.Progress != nil {
		u.options.Progress(u.done)
	}
	return u.w.add(blob, &u.content), nil
}

// pause commits the transaction and begins another one, if it has become large. It returns the error to end with, if there is one.
func (u *updater) pause(ctx context.Context) error {
	if err := ctx.Err(); err == nil && u.w.pending >= cmp.Or(u.options.Batch, batchSize) {
		u.w.pending = 0
		u.w.flush()
		u.db.exec("COMMIT")
		u.db.begin("IMMEDIATE")
	}
	return cmp.Or(ctx.Err(), u.db.err)
}
