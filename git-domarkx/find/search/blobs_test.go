package search

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/find/search/content"
)

// TestBlobsWithOneKey adds blobs whose ids begin with the same eight bytes, or the next ones, in two transactions.
func TestBlobsWithOneKey(t *testing.T) {
	blob := func(key uint64, rest byte) []byte {
		return append(binary.BigEndian.AppendUint64(nil, key), rest, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	blobs := [][]byte{blob(8, 1), blob(10, 1), blob(8, 2), blob(9, 3), blob(12, 1), blob(8, 4), blob(10, 5), blob(14, 1)}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for first := range blobs {
		db, err := createIndex(filepath.Join(dir, "index.db"))
		if err != nil {
			t.Fatal(err)
		}
		w, err := newWriter(db)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range blobs {
			if id, err := w.find(b); id != 0 || err != nil {
				t.Errorf("blob %d is message %d before it is added: %v", i, id, err)
			}
			if _, err := w.add(b, &content.Message{Text: []byte("a")}, 0); err != nil {
				t.Fatal(err)
			}
			if i == first {
				if err := w.flush(); err != nil {
					t.Fatal(err)
				}
			}
			for j, b := range blobs[:i+1] {
				if id, err := w.find(b); id != int64(j+1) || err != nil {
					t.Errorf("blob %d is message %d: %v", j, id, err)
				}
			}
		}
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		for j, b := range blobs {
			if id, err := w.find(b); id != int64(j+1) || err != nil {
				t.Errorf("stored blob %d is message %d: %v", j, id, err)
			}
		}
		if err := db.close(); err != nil {
			t.Fatal(err)
		}
	}
}
