//go:build unix

package sessions_test

import (
	"context"
	"testing"
	"time"

	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// put writes a draft into the journal of the mount that lives.
func (m *machine) put(d drafts.Draft) string {
	m.Helper()
	key, err := m.cut.Journal.Put(d)
	if err != nil {
		m.Fatal(err)
	}
	return key
}

func (m *machine) tip(name string) string {
	m.Helper()
	info, err := m.store.Info(context.Background(), name)
	if err != nil {
		m.Fatal(err)
	}
	return info.ID
}

// snapshot makes one, as a save of the mount that is about to die.
func (m *machine) snapshot(name, base, text string) string {
	m.Helper()
	r, err := m.store.Save(context.Background(), name, base, []byte(text))
	if err != nil {
		m.Fatal(err)
	}
	return r.Info.ID
}

// TestAdoptAfterItsOwnSnapshot: the snapshot of the dead mount's own save does not count
// as a change elsewhere, so saves that were made from it are not merged.
func TestAdoptAfterItsOwnSnapshot(t *testing.T) {
	saved := func(name, base, after, afterIs, text string) drafts.Draft {
		return drafts.Draft{Name: name, Base: base, After: after, AfterIs: afterIs, State: drafts.Saved, Data: []byte(text)}
	}
	sum := func(text string) string { return drafts.Sum([]byte(text)) }
	tests := map[string]struct {
		left func(m *machine, base string)
		want string
	}{
		"its draft is there": {func(m *machine, base string) {
			first := m.put(saved("s", base, "", "", "b"))
			m.put(saved("s", base, first, sum("b"), "c"))
			m.snapshot("s", base, "b")
		}, "a|b|c"},
		"its draft is gone": {func(m *machine, base string) {
			first := m.put(saved("s", base, "", "", "b"))
			m.put(saved("s", base, first, sum("b"), "c"))
			m.snapshot("s", base, "b")
			if err := m.cut.Journal.Delete(first); err != nil {
				m.Fatal(err)
			}
		}, "a|b|c"},
		"two are gone": {func(m *machine, base string) {
			first := m.put(saved("s", base, "", "", "b"))
			second := m.put(saved("s", base, first, sum("b"), "c"))
			m.put(saved("s", base, second, sum("c"), "d"))
			m.snapshot("s", m.snapshot("s", base, "b"), "c")
			if err := m.cut.Journal.Delete(first, second); err != nil {
				m.Fatal(err)
			}
		}, "a|b|c|d"},
		"its draft is gone, and somebody went on": {func(m *machine, base string) {
			first := m.put(saved("s", base, "", "", "ab"))
			m.put(saved("s", base, first, sum("ab"), "abc"))
			m.snapshot("s", m.snapshot("s", base, "ab"), "abX")
			if err := m.cut.Journal.Delete(first); err != nil {
				m.Fatal(err)
			}
		}, "a|ab|abX|abc|abXc"},
		"a new session, its draft is gone": {func(m *machine, base string) {
			m.unlink("s.md")
			m.at(time.Hour, "s", "-")
			first := m.put(saved("s", "", "", "", "b"))
			m.put(saved("s", "", first, sum("b"), "c"))
			m.snapshot("s", "", "b")
			if err := m.cut.Journal.Delete(first); err != nil {
				m.Fatal(err)
			}
		}, "b|c"},
		"a removal after it": {func(m *machine, base string) {
			m.put(saved("s", base, "", "", "b"))
			m.put(drafts.Draft{Name: "s", Base: base, State: drafts.Removed})
			m.snapshot("s", base, "b")
		}, "-"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			timed(t, func(m *machine) {
				m.save("s.md", "a")
				m.at(time.Second, "s", "a")
				tt.left(m, m.tip("s"))
				for range 3 {
					m.crash()
				}
				m.at(time.Hour, "s", tt.want)
			})
		})
	}
}

// A child of the dead mount moves the session after all: the next mount does not
// look before it has ended.
func TestAdoptWaitsForWhatIsUnderWay(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.at(time.Second, "s", "a")
		base := m.tip("s")
		m.save("s.md", "b")
		m.onSettle = func() {
			m.onSettle = nil
			m.snapshot("s", base, "b")
		}
		m.crash()
		if m.onSettle != nil {
			t.Error("nobody waited")
		}
		m.at(time.Hour, "s", "a|b")
	})
}

// TestAdoptionIsCut: a mount that dies while it adopts drafts does not change them.
func TestAdoptionIsCut(t *testing.T) {
	second := map[string]drafts.Draft{
		"a|b|c": {Name: "s", AfterIs: drafts.Sum([]byte("b")), State: drafts.Saved, Data: []byte("c")},
		"-":     {Name: "s", State: drafts.Removed},
	}
	for want, d := range second {
		for cuts := range 8 {
			timed(t, func(m *machine) {
				m.save("s.md", "a")
				m.at(time.Second, "s", "a")
				d.Base = m.tip("s")
				first := m.put(drafts.Draft{Name: "s", Base: d.Base, State: drafts.Saved, Data: []byte("b")})
				if d.State == drafts.Saved {
					d.After = first
				}
				m.put(d)
				m.snapshot("s", d.Base, "b")
				m.writes = cuts // after which the power is cut again
				m.crash()
				m.writes = -1
				m.crash()
				m.at(time.Hour, "s", want)
			})
		}
	}
}

// A program that has the file open while a child that it started closes it may be
// in the middle of a save: its former saves are kept too, until it has ended.
func TestAnInheritedFileIsClosed(t *testing.T) {
	tests := map[string]struct {
		then func(m *machine, f *sessions.File, h *sessions.Handle)
		want string
	}{
		"and then the power is cut": {func(*machine, *sessions.File, *sessions.Handle) {}, "a|full|ha"},
		"and more is written": {func(m *machine, f *sessions.File, h *sessions.Handle) {
			m.write(f, h, "lf", 2)
			if err := m.tree.Flush(h, editor); err != nil {
				m.Fatal(err)
			}
		}, "a|full|half"},
		"and then by the program": {func(m *machine, f *sessions.File, h *sessions.Handle) {
			m.write(f, h, "lf", 2)
			m.close(h)
		}, "a|half"},
		"and it is synced": {func(m *machine, _ *sessions.File, h *sessions.Handle) {
			if err := m.tree.Sync(h, editor); err != nil {
				m.Fatal(err)
			}
		}, "a|ha"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			timed(t, func(m *machine) {
				m.save("s.md", "a")
				m.at(time.Second, "s", "a")
				m.save("s.md", "full")
				f, h := m.create("s.md")
				m.write(f, h, "ha", 0)
				if err := m.tree.Flush(h, editor); err != nil {
					t.Fatal(err)
				}
				tt.then(m, f, h)
				for range 2 {
					m.crash()
				}
				m.at(time.Hour, "s", tt.want)
				if left, err := drafts.List(m.dir + "/drafts"); err != nil || len(left) > 0 {
					t.Errorf("left in the journal: %v, %v", left, err)
				}
			})
		})
	}
}

// The kernel says that a file is released some time after it was closed, and not by
// whom: also in the middle of the next save, which it does not end.
func TestAReleaseComesLate(t *testing.T) {
	flush := func(m *machine, h *sessions.Handle) {
		m.Helper()
		if err := m.tree.Flush(h, editor); err != nil {
			m.Fatal(err)
		}
	}
	release := func(m *machine, h *sessions.Handle) {
		m.Helper()
		if err := m.tree.Release(h, basis.Caller{}); err != nil {
			m.Fatal(err)
		}
	}
	tests := map[string]struct {
		after func(m *machine, f *sessions.File, next *sessions.Handle)
		want  string
	}{
		"and the power is cut":  {func(*machine, *sessions.File, *sessions.Handle) {}, "a|first"},
		"and the save is whole": {func(m *machine, f *sessions.File, next *sessions.Handle) { m.write(f, next, "nd", 4); flush(m, next) }, "a|first|second"},
		"and it is released": {func(m *machine, f *sessions.File, next *sessions.Handle) {
			m.write(f, next, "nd", 4)
			flush(m, next)
			release(m, next)
		}, "a|second"},
		"and nothing more is written before another": {func(m *machine, _ *sessions.File, next *sessions.Handle) {
			flush(m, next)
			m.save("s.md", "third")
		}, "a|third"},
		"and there is another save": {func(m *machine, f *sessions.File, next *sessions.Handle) {
			m.write(f, next, "nd", 4)
			flush(m, next)
			m.save("s.md", "third")
			release(m, next)
		}, "a|third"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			timed(t, func(m *machine) {
				m.save("s.md", "a")
				m.at(time.Second, "s", "a")
				m.read("s.md")
				f, first := m.create("s.md")
				m.write(f, first, "first", 0)
				flush(m, first)
				f, next := m.create("s.md")
				m.write(f, next, "seco", 0)
				release(m, first)
				tt.after(m, f, next)
				m.crash()
				m.at(time.Hour, "s", tt.want)
			})
		})
	}
}
