package gitstore_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// storedObjects returns the size on disk of each object in bytes, by id.
func storedObjects(tb testing.TB, dir string) map[string]int64 {
	tb.Helper()
	sizes := map[string]int64{}
	for line := range strings.Lines(git(tb, dir, "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objectsize:disk)")) {
		var id string
		var size int64
		if _, err := fmt.Sscan(line, &id, &size); err != nil {
			tb.Fatal(err)
		}
		sizes[id] = size
	}
	return sizes
}

// realistic gives messages ids and digests that are as incompressible as real ones, and the commit
// messages some text.
func realistic(state *domarkx.State) {
	for i := range state.Thread.Live {
		e := &state.Thread.Live[i]
		e.Layout.Digest = sha256.Sum256([]byte(fmt.Sprint("digest", i)))
		e.Layout.Size = 1000 + int64(i)
	}
}

// TestAppendBudget checks that a message needs at most 10 objects and 5 KB in addition to its content,
// whatever its position.
func TestAppendBudget(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	for _, n := range []int{0, 1, 15, 16, 1000, 16383, 16384, 114687}[:gittest.Rounds(7, 8)] {
		if testing.Short() && n > 1000 {
			break // storing so many takes seconds
		}
		whole := conversation(n + 1)
		realistic(whole)
		last := whole.Thread.Live[n]
		whole.Thread.Live = whole.Thread.Live[:n]
		name := fmt.Sprintf("s%d", n)
		tip := save(t, s, name, whole)
		git(t, dir, "repack", "-a", "-d", "-q")
		before := storedObjects(t, dir)
		update(t, s, func(tx *gitstore.Tx) error {
			c := commitOf(&domarkx.State{Thread: domarkx.Thread{Live: []domarkx.Entry{last}}}, tip.ID)
			c.Subject = "append user: " + strings.Repeat("a subject of some length ", 3)
			c.Preview = strings.Repeat("fifty units of text ", 3)[:50] + "..."
			info, err := tx.Append(ctx, c)
			if err != nil {
				return err
			}
			return tx.Set(ctx, name, info.ID)
		})
		message := git(t, dir, "rev-parse", fmt.Sprintf("refs/domarkx/sessions/%s:conversation/%04d/%02d/%02d/%02d-%s.json", name, n/16384, n/512%32, n/16%32, n%16, last.Role))
		count, disk, content := 0, int64(0), 0
		for id, size := range storedObjects(t, dir) {
			if _, old := before[id]; old {
				continue
			}
			count++
			if id != message {
				disk += size
				var bytes int
				if _, err := fmt.Sscan(git(t, dir, "cat-file", "-s", id), &bytes); err != nil {
					t.Fatal(err)
				}
				content += bytes
			}
		}
		t.Logf("message %6d: %d objects, beside the message %d bytes on disk, %d of content", n, count, disk, content)
		if count == 0 || count > 10 || disk > 5000 {
			t.Errorf("message %d: %d objects and %d bytes, want at most 10 and 5000", n, count, disk)
		}
	}
}
