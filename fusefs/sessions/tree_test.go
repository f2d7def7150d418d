//go:build unix

package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(tests{m}) }

type tests struct{ *testing.M }

func (t tests) Run() int { return shorttest.Main(t.M) }

const ms = time.Millisecond

func TestASaveSettles(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.at(249*ms, "s", "-")
		m.at(1*ms, "s", "a")
	})
}

func TestFlushAloneSavesNothing(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.at(time.Second, "s", "a")
		f, h := m.create("s.md")
		if err := m.tree.Flush(h, editor); err != nil {
			t.Fatal(err)
		}
		m.at(time.Hour, "s", "a")
		m.write(f, h, "b", 0)
		m.close(h)
		m.at(250*ms, "s", "a|b")
	})
}

func TestSeveralSavesInARowAreOne(t *testing.T) {
	timed(t, func(m *machine) {
		for i := range 4 {
			m.save("s.md", fmt.Sprint(i))
			m.at(100*ms, "s", "-")
		}
		m.at(150*ms, "s", "3")
		f, h := m.create("s.md")
		for i := range 20 { // a logger that syncs each line
			m.write(f, h, fmt.Sprint(i%10), int64(i))
			if err := m.tree.Sync(h, editor); err != nil {
				t.Fatal(err)
			}
			time.Sleep(110 * ms)
		}
		if got := m.history("s"); !strings.HasPrefix(got, "3|0123456|") {
			t.Errorf("history is %s: a save waits for at most 0.7 s", got)
		}
		m.close(h)
	})
}

func TestAnEmptyDocumentWaits(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.at(time.Second, "s", "a")
		m.save("s.md", "")
		m.at(600*ms, "s", "a")
		m.save("s.md", "b")
		m.at(250*ms, "s", "a|b")
		m.save("s.md", "")
		m.at(700*ms, "s", "a|b|")
	})
}

func TestRemovalWaits(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.at(time.Second, "s", "a")
		m.unlink("s.md")
		m.at(999*ms, "s", "a")
		if got := m.read("s.md"); got != "-" {
			t.Errorf("it still shows %q", got)
		}
		m.at(1*ms, "s", "-")
		m.save("s.md", "b")
		m.at(time.Second, "s", "b")
		m.unlink("s.md")
		m.save("s.md", "c")
		m.at(time.Hour, "s", "b|c")
	})
}

func TestARemovalOfWhatChangedElsewhereIsTakenBack(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.at(time.Second, "s", "a")
		m.unlink("s.md")
		if _, err := m.store.Write(context.Background(), "s", "ab"); err != nil {
			t.Fatal(err)
		}
		if got := m.read("s.md"); got != "ab" {
			t.Errorf("it shows %q", got)
		}
		m.at(time.Hour, "s", "a|ab")
	})
}

func TestASaveThatFailsIsTriedAgain(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.cut.set(syscall.ENOSPC)
		m.at(time.Minute, "s", "-")
		if got := m.tree.SessionsWithErrors(); len(got) != 1 || got[0] != "s" {
			t.Errorf("troubled: %q", got)
		}
		if got := m.read("s.md"); got != "a" {
			t.Errorf("reads %q", got)
		}
		f, h := m.create("s.md")
		m.write(f, h, "b", 0)
		if err := m.tree.Flush(h, editor); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("closing on a full disk: %v", err)
		}
		m.cut.set(nil)
		m.close(h)
		m.at(2*time.Minute, "s", "b")
		if got := m.tree.SessionsWithErrors(); len(got) != 0 {
			t.Errorf("troubled: %q", got)
		}
	})
}

// A shell ignores the error of close(), and the file shows the shell's bytes.
func TestAFailedCloseIsTriedAgain(t *testing.T) {
	for name, wait := range map[string]time.Duration{"after a while": 3 * time.Minute, "at unmount": 0} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(m *machine) {
				f, h := m.create("s.md")
				m.write(f, h, "a", 0)
				m.cut.set(syscall.ENOSPC)
				if err := m.tree.Release(h, editor); !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("closing on a full disk: %v", err)
				}
				time.Sleep(wait)
				m.cut.set(nil)
				time.Sleep(wait)
				if wait == 0 {
					if err := m.tree.Close(context.Background()); err != nil {
						t.Error(err)
					}
				}
				m.at(0, "s", "a")
			})
		})
	}
}

func TestUnrelatedSavesAreBothMade(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.at(time.Second, "s", "a")
		m.read("s.md")
		other := basis.Caller{Process: 2, Group: 2}
		f, _, err := m.tree.Lookup(context.Background(), m.tree.Root(), "s.md")
		if err != nil {
			t.Fatal(err)
		}
		h, err := m.tree.Open(context.Background(), f, sessions.Mode{Read: true}, other)
		if err != nil {
			t.Fatal(err)
		}
		m.tree.Release(h, other)
		m.save("s.md", "a1")
		h, err = m.tree.Open(context.Background(), f, sessions.Mode{Write: true, Truncate: true}, other)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.tree.Write(context.Background(), f, h, []byte("a2"), 0, other); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(m.tree.Flush(h, other), m.tree.Release(h, other)); err != nil {
			t.Fatal(err)
		}
		m.at(time.Second, "s", "a|a1|a2|a12")
		if got := m.read("s.md"); got != "a12" {
			t.Errorf("reads %q", got)
		}
	})
}

func TestCrashes(t *testing.T) {
	tests := map[string]struct {
		do   func(m *machine)
		want string // history of s
	}{
		"after a save":    {func(m *machine) { m.save("s.md", "b") }, "a|b"},
		"after two saves": {func(m *machine) { m.save("s.md", "b"); m.save("s.md", "c") }, "a|c"},
		"after a sync": {func(m *machine) {
			f, h := m.create("s.md")
			m.write(f, h, "b", 0)
			if err := m.tree.Sync(h, editor); err != nil {
				t.Fatal(err)
			}
			m.write(f, h, "c", 0)
		}, "a|b"},
		"before a close":      {func(m *machine) { f, h := m.create("s.md"); m.write(f, h, "b", 0) }, "a"},
		"after a removal":     {func(m *machine) { m.unlink("s.md") }, "-"},
		"after save, removal": {func(m *machine) { m.save("s.md", "b"); m.unlink("s.md") }, "-"},
		"after removal, save": {func(m *machine) { m.unlink("s.md"); m.save("s.md", "b") }, "a|b"},
		"after a rename away": {func(m *machine) {
			if err := m.rename("s.md", "s.md~"); err != nil {
				t.Fatal(err)
			}
		}, "a"},
		"after a rename over": {func(m *machine) {
			m.save("tmp", "b")
			if err := m.rename("tmp", "s.md"); err != nil {
				t.Fatal(err)
			}
		}, "a|b"},
		"after a new name": {func(m *machine) {
			m.save("t.md", "b")
			if err := m.rename("t.md", "s.md"); err != nil {
				t.Fatal(err)
			}
		}, "a|b"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			timed(t, func(m *machine) {
				m.save("s.md", "a")
				m.at(time.Second, "s", "a")
				tt.do(m)
				for range 3 { // what was taken up is not taken up twice
					m.crash()
				}
				m.at(time.Hour, "s", tt.want)
				if got := m.history("t"); got != "-" {
					t.Errorf("t is %s", got)
				}
			})
		})
	}
}

func TestACrashBetweenSnapshotAndJournal(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.at(time.Second, "s", "a")
		tip, err := m.store.Info(context.Background(), "s")
		if err != nil {
			t.Fatal(err)
		}
		m.save("s.md", "ab")
		if _, err := m.store.Save(context.Background(), "s", tip.ID, []byte("ab")); err != nil {
			t.Fatal(err)
		}
		m.crash()
		m.at(time.Second, "s", "a|ab")
	})
}
