package search

import (
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// purge removes the messages that no newest snapshot of a session contains, so that nothing of their texts remains in
// the file. It also removes messages that were replaced: they are indexed again when the history is searched.
func (d *database) purge() error {
	err := d.execAll(
		"CREATE TEMP TABLE IF NOT EXISTS gone(message INTEGER PRIMARY KEY)",
		"DELETE FROM gone",
		"DELETE FROM leaf WHERE id NOT IN (SELECT leaf FROM place)",
		"DELETE FROM member WHERE leaf NOT IN (SELECT id FROM leaf)",
		"INSERT INTO gone SELECT id FROM message WHERE id NOT IN (SELECT message FROM member) AND id NOT IN (SELECT message FROM past)",
	)
	gone := map[int64]bool{}
	if err == nil {
		err = d.query("SELECT message FROM gone", func(s *sqlite3.Stmt) error {
			gone[s.Int(0)] = true
			return nil
		})
	}
	if err != nil || len(gone) == 0 {
		return err
	}
	err = d.execAll(
		"DELETE FROM message WHERE id IN (SELECT message FROM gone)",
		"DELETE FROM facet_message WHERE message IN (SELECT message FROM gone)",
		"DELETE FROM facet WHERE id NOT IN (SELECT facet FROM facet_message) AND id NOT IN (SELECT model FROM message WHERE model IS NOT NULL)",
		"DELETE FROM words WHERE rowid IN (SELECT message FROM gone)",
		"INSERT INTO words(words) VALUES('optimize')", // rewrites the full-text index without the removed words
		"DROP TABLE gone",
	)
	if err != nil {
		return err
	}
	d.purged = true
	return errors.Join(d.purgeBlocks(gone), d.exec("PRAGMA user_version=0"))
}

// compact writes the file again after a purge. SQLite overwrites deleted rows, but not the copies of it that remained
// in a page when its rows were divided between pages. Until this is done, the file has no version, so that it is made
// again after a kill.
func (d *database) compact() error {
	err := d.execAll("PRAGMA temp_store=FILE", "VACUUM", "PRAGMA temp_store=MEMORY", fmt.Sprintf("PRAGMA user_version=%d", schemaVersion))
	if err != nil {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	d.purged = false
	return nil
}

// purgeBlocks removes the texts of the removed messages from their blocks.
func (d *database) purgeBlocks(gone map[int64]bool) error {
	var firsts []int64
	err := d.query("SELECT first FROM block", func(s *sqlite3.Stmt) error { firsts = append(firsts, s.Int(0)); return nil })
	for _, first := range firsts {
		if err != nil {
			return err
		}
		var old, kept block
		err = d.query("SELECT data FROM block WHERE first = ?", func(s *sqlite3.Stmt) error {
			data, _ := s.Column(0).([]byte)
			return old.decode(data)
		}, first)
		if err != nil {
			return err
		}
		for id, text := range old.messages() {
			if !gone[id] {
				kept.add(id, text)
			}
		}
		if len(kept.ids) == len(old.ids) {
			continue
		}
		if err = d.removeBlock(first); err == nil && len(kept.ids) > 0 {
			err = d.addBlock(&kept)
		}
	}
	return err
}
