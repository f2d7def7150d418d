package gitstore_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

var sizes = []int{100, 1000, 10000, 100000}

// sessionOf creates a packed session of n messages, and waits until the disk has written it.
func sessionOf(b *testing.B, s *gitstore.Store, dir string, n int) domarkx.Info {
	b.Helper()
	state := conversation(n)
	realistic(state)
	info := save(b, s, fmt.Sprintf("s%d", n), state)
	git(b, dir, "repack", "-a", "-d", "-q")
	if out, err := exec.Command("sync").CombinedOutput(); err != nil {
		b.Fatalf("sync: %v\n%s", err, out)
	}
	return info
}

// BenchmarkAppend durably appends one message. Its time must not depend on the size of the session.
func BenchmarkAppend(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, dir := newStore(b)
			ctx := context.Background()
			tip := sessionOf(b, s, dir, n)
			last := entry(n-1, domarkx.ID{}, "")
			k := n
			for b.Loop() {
				e := entry(k, last.ID, fmt.Sprintf("message %d", k))
				update(b, s, func(tx *gitstore.Tx) error {
					var err error
					tip, err = tx.Append(ctx, commitOf(&domarkx.State{Thread: domarkx.Thread{Live: []domarkx.Entry{e}}}, tip.ID))
					if err != nil {
						return err
					}
					return tx.Set(ctx, fmt.Sprintf("s%d", n), tip.ID)
				})
				last = e
				k++
			}
		})
	}
}

// BenchmarkEntry reads a message and its content. Its time must not depend on its position or the size of
// the session.
func BenchmarkEntry(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, dir := newStore(b)
			ctx := context.Background()
			tip := sessionOf(b, s, dir, n)
			k := 0
			for b.Loop() {
				e, err := s.Entry(ctx, tip.ID, k)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Read(ctx, e.JSON); err != nil {
					b.Fatal(err)
				}
				k = (k + 7919) % n
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, dir := newStore(b)
			tip := sessionOf(b, s, dir, n)
			for b.Loop() {
				if _, err := s.Load(context.Background(), tip.ID); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// manySessions creates sessions of some messages each in one update.
func manySessions(tb testing.TB, s *gitstore.Store, sessions, messages int) {
	tb.Helper()
	ctx := context.Background()
	update(tb, s, func(tx *gitstore.Tx) error {
		for i := range sessions {
			state := conversation(messages)
			for k := range state.Thread.Live {
				e := entry(k, domarkx.ID{}, fmt.Sprintf("session %d, message %d: %s", i, k, loremIpsum))
				state.Thread.Live[k].JSON, state.Thread.Live[k].Layout = e.JSON, e.Layout
			}
			c := commitOf(state)
			c.Subject = fmt.Sprintf("import session %d", i)
			info, err := tx.Commit(ctx, c)
			if err != nil {
				return err
			}
			if err := tx.Set(ctx, fmt.Sprintf("directory%d/session%d", i%50, i), info.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

const loremIpsum = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua."

// BenchmarkList lists 10,000 sessions, and compares with git listing their refs.
func BenchmarkList(b *testing.B) {
	dir := newRepository(b)
	manySessions(b, open(b, dir), 10000, 1)
	for _, packed := range []string{"loose", "packed"} {
		if packed == "packed" {
			git(b, dir, "pack-refs", "--all")
		}
		b.Run("sessions/"+packed, func(b *testing.B) {
			for b.Loop() {
				s := open(b, dir) // like each command
				if list, err := s.List(context.Background()); err != nil || len(list) != 10000 {
					b.Fatalf("%d sessions, %v", len(list), err)
				}
			}
		})
		b.Run("for-each-ref/"+packed, func(b *testing.B) {
			for b.Loop() {
				git(b, dir, "for-each-ref", "refs/domarkx/sessions/")
			}
		})
	}
}

// BenchmarkImport stores 1,000 sessions of 50 messages, and compares with git fast-import.
func BenchmarkImport(b *testing.B) {
	b.Run("sessions", func(b *testing.B) {
		for b.Loop() {
			s, _ := newStore(b)
			manySessions(b, s, 1000, 50)
		}
	})
	from := newRepository(b)
	manySessions(b, open(b, from), 1000, 50)
	stream := git(b, from, "fast-export", "--all")
	b.Run("fast-import", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("git", "fast-import", "--quiet")
			cmd.Dir, cmd.Env, cmd.Stdin = newRepository(b), testEnv(), bytes.NewReader([]byte(stream))
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
	})
}
