package search

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/find/search/content"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/snapshot"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
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

func (d *database) sessions() (map[string]indexed, error) {
	known := map[string]indexed{}
	err := d.query(selectSessions, func(s *sqlite3.Stmt) error {
		tip, _ := s.Column(2).([]byte)
		history, _ := s.Column(3).([]byte)
		known[s.Column(1).(string)] = indexed{s.Int(0), hex.EncodeToString(tip), hex.EncodeToString(history)}
		return nil
	})
	return known, err
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
	if err := d.begin("IMMEDIATE"); err != nil {
		return err
	}
	u := &updater{store: store, db: d, options: o, tips: map[int64][]byte{}}
	if err := d.end(u.run(ctx, list, purge)); err != nil || !d.purged {
		return err
	}
	return d.compact()
}

func (u *updater) run(ctx context.Context, list []domarkx.Info, purge bool) error {
	known, err := u.db.sessions()
	if err != nil {
		return err
	}
	if u.w, err = newWriter(u.db); err != nil {
		return err
	}
	for _, info := range list {
		k, ok := known[info.Name]
		delete(known, info.Name)
		rewritten, err := u.session(ctx, info, k, ok)
		purge = purge || rewritten
		if err == nil && u.options.History {
			err = u.history(ctx, info)
		}
		if err != nil {
			if err = u.skip(ctx, info.Name, err); err != nil {
				return err
			}
		}
	}
	for _, k := range known {
		purge = true
		if err := u.forget(k.id); err != nil {
			return err
		}
	}
	if err := u.w.flush(); err != nil {
		return err
	}
	if !purge {
		return nil
	}
	for id, tip := range u.tips { // in the transaction of the purge, so that an update that was stopped before it is repeated
		if err := u.db.exec(setTip, tip, id); err != nil {
			return err
		}
	}
	return u.db.purge()
}

// skip reports that a session cannot be read, and removes the session from the index. It returns err if the index is
// the cause.
func (u *updater) skip(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil || sqlite3.Primary(err) != 0 || errors.Is(err, errBlock) {
		return err
	}
	if u.options.Warn != nil {
		u.options.Warn(fmt.Errorf("session %q is not searched: %w", name, err))
	}
	id, err := u.db.number("SELECT id FROM session WHERE name = ?", name)
	if err != nil || id == 0 {
		return err
	}
	return u.forget(id)
}

// forget removes a session from the index, but not its messages.
func (u *updater) forget(id int64) error {
	var err error
	for _, table := range []string{"place", "past", "walked"} {
		err = errors.Join(err, u.db.exec("DELETE FROM "+table+" WHERE session = ?", id))
	}
	return errors.Join(err, u.db.exec("DELETE FROM session WHERE id = ?", id))
}

// session indexes the tip of a session. rewritten reports whether the tip that was indexed before is not an ancestor of
// the present one; its tip is then recorded later.
func (u *updater) session(ctx context.Context, info domarkx.Info, k indexed, known bool) (rewritten bool, err error) {
	if known && k.tip == info.ID {
		return false, nil
	}
	tip := binaryID(info.ID)
	if known {
		ancestor, err := u.store.IsAncestor(ctx, k.tip, info.ID)
		rewritten = err != nil || !ancestor // an error means that Git has removed the old tip
	}
	if rewritten {
		for _, table := range []string{"past", "walked"} {
			err = errors.Join(err, u.db.exec("DELETE FROM "+table+" WHERE session = ?", k.id))
		}
		if err = errors.Join(err, u.db.exec("UPDATE session SET history = NULL WHERE id = ?", k.id)); err != nil {
			return rewritten, err
		}
	}
	var leaves []int64
	for leaf, err := range u.store.Leaves(ctx, info.ID, nil) {
		if err != nil {
			return rewritten, err
		}
		id, err := u.leaf(ctx, leaf)
		if err != nil {
			return rewritten, err
		}
		leaves = append(leaves, id)
	}
	if !known {
		if err := u.db.exec("INSERT INTO session(name, tip) VALUES(?, ?)", info.Name, tip); err != nil {
			return false, err
		}
		k.id = u.db.conn.LastInsert()
	} else if rewritten {
		u.tips[k.id] = tip
	} else if err := u.db.exec(setTip, tip, k.id); err != nil {
		return rewritten, err
	}
	return rewritten, u.place(k.id, leaves)
}

// place records the leaves of a session's tip.
func (u *updater) place(session int64, leaves []int64) error {
	var before []int64
	err := u.db.query("SELECT leaf FROM place WHERE session = ? ORDER BY number", func(s *sqlite3.Stmt) error {
		before = append(before, s.Int(0))
		return nil
	}, session)
	for i, leaf := range leaves {
		switch {
		case err != nil:
		case i >= len(before):
			err = u.db.exec("INSERT INTO place(session, number, leaf) VALUES(?, ?, ?)", session, i, leaf)
		case before[i] != leaf:
			err = u.db.exec("UPDATE place SET leaf = ? WHERE session = ? AND number = ?", leaf, session, i)
		}
	}
	if err == nil && len(before) > len(leaves) {
		err = u.db.exec("DELETE FROM place WHERE session = ? AND number >= ?", session, len(leaves))
	}
	return err
}

// leaf returns the number of a leaf in the index. If the leaf is new, it indexes the messages in it.
func (u *updater) leaf(ctx context.Context, leaf snapshot.Leaf) (int64, error) {
	tree := binaryID(leaf.ID)
	id, err := u.db.number("SELECT id FROM leaf WHERE tree = ?", tree)
	if err != nil || id != 0 {
		return id, err
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
	if id, err = u.w.addLeaf(tree, entries); err != nil {
		return 0, err
	}
	return id, u.pause(ctx)
}

// message returns the number of a message in the index. If the message is new, it indexes the message.
func (u *updater) message(ctx context.Context, e domarkx.Entry) (id int64, err error) {
	blob := binaryID(e.JSON.ID)
	id, err = u.db.number("SELECT id FROM message WHERE blob = ?", blob)
	if err != nil || id != 0 {
		return id, err
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
	return u.w.add(blob, &u.content)
}

// pause commits the transaction and begins another one, if it has become large.
func (u *updater) pause(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if u.w.pending < cmp.Or(u.options.Batch, batchSize) {
		return nil
	}
	u.w.pending = 0
	err := u.w.flush()
	if err == nil {
		err = u.db.exec("COMMIT")
	}
	if err == nil {
		err = u.db.begin("IMMEDIATE")
	}
	return err
}
