//go:build unix

package sessions_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/internal/storetest"
)

// settled advances the clock, settles, and compares the pending sessions and the history.
func (m *machine) settled(pending, want string) {
	m.Helper()
	got := ""
	for _, name := range m.tree.Settle(context.Background()) {
		got += name + " "
	}
	if got != pending {
		m.Errorf("pending is %q, expected %q", got, pending)
	}
	if got := m.history("s"); got != want {
		m.Errorf("history is %s, expected %s", got, want)
	}
}

func TestSettle(t *testing.T) {
	for name, test := range map[string]struct {
		do            func(m *machine)
		pending, want string
		within        time.Duration
	}{
		"nothing was saved":    {func(*machine) {}, "", "-", 0},
		"a save":               {func(m *machine) { m.save("s.md", "a") }, "", "a", 0},
		"two saves in a row":   {func(m *machine) { m.save("s.md", "a"); m.save("s.md", "b") }, "", "b", 0},
		"an empty file waits":  {func(m *machine) { m.save("s.md", "") }, "", "", 700 * ms},
		"a release comes late": {func(m *machine) { m.flushed("s.md", "a") }, "", "a", 100 * ms},
		"an open, empty file is left alone": {func(m *machine) {
			m.save("s.md", "a")
			m.at(time.Second, "s", "a")
			m.flushed("s.md", "")
		}, "", "a", 100 * ms},
		"a removal": {func(m *machine) {
			m.save("s.md", "a")
			m.at(time.Second, "s", "a")
			m.unlink("s.md")
		}, "", "-", 250 * ms},
		"a removal of what was just saved": {func(m *machine) {
			m.save("s.md", "a")
			m.unlink("s.md")
		}, "", "-", 250 * ms},
		"the disk is full": {func(m *machine) {
			m.save("s.md", "a")
			m.cut.left = 0
		}, "s ", "-", 0},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(m *machine) {
				test.do(m)
				began := time.Now()
				m.settled(test.pending, test.want)
				if took := time.Since(began); took > test.within {
					t.Errorf("it took %v, expected at most %v", took, test.within)
				}
				m.cut.left = -1
			})
		})
	}
}

// Who sees a problem in errors/ finds it in the journal after Settle: commands that ask the
// server report it.
func TestSettleWaitsForTheJournal(t *testing.T) {
	timed(t, func(m *machine) {
		recorded := make(chan struct{})
		m.cut.onPut = func(d drafts.Draft) {
			if d.State == drafts.Broken {
				<-recorded
			}
		}
		m.save("s.md", storetest.Broken)
		m.at(time.Minute, "s", "-")
		if got := m.tree.SessionsWithErrors(); !slices.Equal(got, []string{"s"}) {
			t.Fatalf("errors/ shows %q", got)
		}
		settled := make(chan struct{})
		go func() {
			defer close(settled)
			m.tree.Settle(context.Background())
		}()
		synctest.Wait()
		select {
		case <-settled:
			t.Error("Settle did not wait until the problem was in the journal")
		default:
		}
		close(recorded)
		<-settled
	})
}

// flushed leaves a file open that a child of the program has closed.
func (m *machine) flushed(p, text string) {
	m.Helper()
	f, h := m.create(p)
	if err := m.tree.Truncate(context.Background(), f, h, 0, editor); err != nil {
		m.Fatal(err)
	}
	if text != "" {
		m.write(f, h, text, 0)
	}
	if err := m.tree.Flush(h, editor); err != nil {
		m.Fatal(err)
	}
}
