package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore"
)

// appendNext appends message n of a writer to a session, and retries if others move it meanwhile.
func appendNext(s *gitstore.Store, name string, writer, n int) error {
	ctx := context.Background()
	for {
		err := s.Update(ctx, "append", func(tx *gitstore.Tx) error {
			tip, err := tx.Tip(ctx, name)
			if err != nil {
				return err
			}
			last, err := tx.Entry(ctx, tip.ID, tip.Messages-1)
			if err != nil {
				return err
			}
			e := entry(1000*(writer+1)+n, last.ID, fmt.Sprintf("%d/%d", writer, n))
			next, err := tx.Append(ctx, commitOf(&domarkx.State{Thread: domarkx.Thread{Live: []domarkx.Entry{e}}}, tip.ID))
			if err != nil {
				return err
			}
			return tx.Set(ctx, name, next.ID)
		})
		if !errors.Is(err, domarkx.ErrConflict) {
			return err
		}
	}
}

func TestWritersAndCollections(t *testing.T) {
	const writers, each = 3, 12
	first, dir := newStore(t)
	save(t, first, "s", conversation(1))
	var group sync.WaitGroup
	for w := range writers {
		s := open(t, dir)
		group.Go(func() {
			for n := range each {
				if err := appendNext(s, "s", w, n); err != nil {
					t.Errorf("writer %d, message %d: %v", w, n, err)
					return
				}
			}
		})
	}
	group.Go(func() {
		for _, args := range [][]string{{"gc", "-q", "--prune=now"}, {"repack", "-a", "-d", "-q"}, {"pack-refs", "--all"}, {"gc", "-q", "--prune=now"}} {
			// The writer restores objects that a collection removed after the ref moved; another collection
			// that starts in between gives up.
			const most = 10
			for n := 1; ; n++ {
				cmd := exec.Command("git", args...)
				cmd.Dir, cmd.Env = dir, testEnv()
				out, err := cmd.CombinedOutput()
				if err == nil {
					break
				}
				if n == most {
					t.Errorf("git %v: %v, %d times\n%s", args, err, n, out)
					break
				}
			}
		}
	})
	group.Wait()
	ctx := context.Background()
	tip, err := first.Tip(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	state, err := first.Load(ctx, tip.ID)
	if err != nil {
		t.Fatal(err)
	}
	next := [writers]int{}
	for _, e := range state.Thread.Live[1:] {
		data, err := first.Read(ctx, e.JSON)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonvalue.ParseValue(data)
		if err != nil {
			t.Fatal(err)
		}
		m, err := domarkx.ParseMessage(v, "")
		if err != nil {
			t.Fatal(err)
		}
		var w, n int
		if _, err := fmt.Sscanf(m.Content[0].Text, "%d/%d", &w, &n); err != nil || next[w] != n {
			t.Fatalf("message %q comes when %v were to come, %v", m.Content[0].Text, next, err)
		}
		next[w]++
	}
	if next != [writers]int{each, each, each} || tip.Number != 1+writers*each {
		t.Errorf("messages by writer: %v, number %d", next, tip.Number)
	}
	if found, err := first.Fsck(ctx, nil); err != nil || len(found) != 0 {
		t.Errorf("Fsck: %+v, %v", found, err)
	}
	git(t, dir, "fsck", "--strict")
}
