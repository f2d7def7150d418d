package gitstore_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

// storeOrigin stores a document and returns its tree.
func storeOrigin(ctx context.Context, tx *gitstore.Tx, format string, content []byte) (string, error) {
	w, err := tx.BeginOrigin(format, bytes.NewReader(content), sha256.Sum256(content))
	if err != nil {
		return "", err
	}
	for n := 0; n < len(content); n += 1 + len(content)/7 {
		if err := w.Through(ctx, int64(n)); err != nil {
			return "", err
		}
	}
	return w.Finish(ctx)
}

// TestGrowOrigin checks that a document that grew step by step has the same tree as one that is stored at
// once.
func TestGrowOrigin(t *testing.T) {
	if testing.Short() {
		t.Skip("it stores 17 MB several times; run the tests without -short")
	}
	s, _ := newStore(t)
	ctx := context.Background()
	line := strings.Repeat("x", 40<<10) + "\n"
	var whole []byte
	for _, chunk := range []string{"", "a", "b\n", line, line, strings.Repeat(line, 30), "", "no end", " yet\n", strings.Repeat(line, 40),
		strings.Repeat("y", 17<<20), "\nend\n" + line, line} {
		before := bytes.Clone(whole)
		whole = append(whole, chunk...)
		var grown, fresh string
		update(t, s, func(tx *gitstore.Tx) error {
			origin := func(content []byte) domarkx.Info {
				state := conversation(1)
				var err error
				if state.Headers[0].Origin, err = storeOrigin(ctx, tx, "pi", content); err != nil {
					t.Fatal(err)
				}
				fresh = state.Headers[0].Origin
				info, err := tx.Commit(ctx, commitOf(state))
				if err != nil {
					t.Fatal(err)
				}
				return info
			}
			old := origin(before)
			name := fmt.Sprintf("s%d", len(whole))
			if err := tx.Set(ctx, name+"/"+old.ID[:6], old.ID); err != nil {
				return err
			}
			headers, err := tx.Header(ctx, old.ID)
			if err != nil {
				return err
			}
			if grown, err = tx.GrowOrigin(ctx, headers[0].Origin, []byte(chunk), sha256.Sum256(whole)); err != nil {
				return err
			}
			fresh, err = storeOrigin(ctx, tx, "pi", whole)
			return err
		})
		if grown != fresh {
			t.Errorf("at %d bytes the tree is %s, want %s", len(whole), grown, fresh)
		}
	}
}
