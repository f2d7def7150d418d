package search

import (
	"fmt"
)

// purge removes the messages that no newest snapshot of a session contains, so that nothing of their texts remains in
// the file. It also removes messages that were replaced: they are indexed again when the history is searched.
func (d *database) purge() {
	d.execAll(
		"CREATE TEMP TABLE IF NOT EXISTS gone(message INTEGER PRIMARY KEY)",
		"DELETE FROM gone",
		"DELETE FROM leaf WHERE id NOT IN (SELECT leaf FROM place)",
		"DELETE FROM member WHERE leaf NOT IN (SELECT id FROM leaf)",
		"INSERT INTO gone SELECT id FROM message WHERE id NOT IN (SELECT message FROM member) AND id NOT IN (SELECT message FROM past)",
	)
	gone := map[int64]bool{}
	for s := range d.rows("SELECT message FROM gone") {
		gone[s.Int(0)] = true
	}
	if len(gone) == 0 {
		return
	}
	d.execAll(
		"DELETE FROM message WHERE id IN (SELECT message FROM gone)",
		"DELETE FROM facet_message WHERE message IN (SELECT message FROM gone)",
		"DELETE FROM facet WHERE id NOT IN (SELECT facet FROM facet_message) AND id NOT IN (SELECT model FROM message WHERE model IS NOT NULL)",
		"DELETE FROM words WHERE rowid IN (SELECT message FROM gone)",
		"INSERT INTO words(words) VALUES('optimize')", // rewrites the full-text index without the removed words
		"DROP TABLE gone",
	)
	d.purgeBlocks(gone)
	d.exec("PRAGMA user_version=0")
	d.purged = true
}

// compact writes the file again after a purge. SQLite overwrites deleted rows, but not the copies of it that remained
// in a page when its rows were divided between pages. Until this is done, the file has no version, so that it is made
// again after a kill.
func (d *database) compact() error {
	d.execAll("PRAGMA temp_store=FILE", "VACUUM", "PRAGMA temp_store=MEMORY", fmt.Sprintf("PRAGMA user_version=%d", schemaVersion))
	if err := d.failed(); err != nil {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	d.purged = false
	return nil
}

// purgeBlocks removes the texts of the removed messages from their blocks.
func (d *database) purgeBlocks(gone map[int64]bool) {
	var firsts []int64
	for s := range d.rows("SELECT first FROM block") {
		firsts = append(firsts, s.Int(0))
	}
	for _, first := range firsts {
		var old, kept block
		for s := range d.rows("SELECT data FROM block WHERE first = ?", first) {
			data, _ := s.Column(0).([]byte)
			d.fail(old.decode(data))
		}
		for id, text := range old.messages() {
			if !gone[id] {
				kept.add(id, text)
			}
		}
		if d.err != nil || len(kept.ids) == len(old.ids) {
			continue
		}
		if d.removeBlock(first); len(kept.ids) > 0 {
			d.addBlock(&kept)
		}
	}
}
