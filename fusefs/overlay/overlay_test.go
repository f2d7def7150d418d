//go:build unix

package overlay_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/internal/storetest"
	"github.com/domarkx/domarkx/fusefs/overlay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errCut = errors.New("the power is cut")

// A machine is a store with a mount over it whose power can be cut.
type machine struct {
	testing.TB
	dir   string
	store *storetest.Store
	tree  *overlay.Tree
	cut   *cut
	saves []string // what became of saves, in order
}

// cut stands between the tree and what is durable.
type cut struct {
	*drafts.Journal
	*storetest.Store
	m *machine

	mu   sync.Mutex
	fail error // of all writes
}

func (c *cut) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fail
}

func (c *cut) set(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = err
}

func (c *cut) Put(d drafts.Draft) (string, error) {
	if err := c.err(); err != nil {
		return "", err
	}
	return c.Journal.Put(d)
}

func (c *cut) Delete(key string) error {
	if err := c.err(); err != nil {
		return err
	}
	return c.Journal.Delete(key)
}

func (c *cut) Save(ctx context.Context, name, base string, data []byte) (overlay.Result, error) {
	if err := c.err(); err != nil {
		return overlay.Result{}, err
	}
	r, err := c.Store.Save(ctx, name, base, data)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.m.saves = append(c.m.saves, fmt.Sprintf("%s=%q", name, data))
	return r, err
}

func (c *cut) Remove(ctx context.Context, name string) error {
	if err := c.err(); err != nil {
		return err
	}
	return c.Store.Remove(ctx, name)
}

func (c *cut) Rename(ctx context.Context, from, to string) error {
	if err := c.err(); err != nil {
		return err
	}
	return c.Store.Rename(ctx, from, to)
}

func newMachine(t testing.TB, dir string) *machine {
	t.Helper()
	store, err := storetest.New(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{TB: t, dir: dir, store: store}
	m.boot()
	return m
}

func (m *machine) boot() {
	m.Helper()
	journal, err := drafts.Open(filepath.Join(m.dir, "drafts"))
	if err != nil {
		m.Fatal(err)
	}
	m.cut = &cut{Journal: journal, Store: m.store, m: m}
	m.tree = overlay.New(overlay.Config{Sessions: m.store, Snapshots: m.store, Names: m.store, Saver: m.cut, Journal: m.cut, Scratch: m.dir})
	found, err := journal.Adopt()
	if err != nil {
		m.Fatal(err)
	}
	if err := m.tree.Adopt(context.Background(), found); err != nil {
		m.Fatal(err)
	}
}

// crash cuts the power and boots again.
func (m *machine) crash() {
	m.Helper()
	m.cut.set(errCut)
	stopped, stop := context.WithCancel(context.Background())
	stop()
	m.tree.Close(stopped) // fails: nothing reaches the disk
	m.cut.Journal.Close()
	m.boot()
}

func (m *machine) shutDown() {
	m.Helper()
	if err := m.tree.Close(context.Background()); err != nil {
		m.Error(err)
	}
	if err := m.cut.Journal.Close(); err != nil {
		m.Error(err)
	}
}

var editor = overlay.Caller{Process: 1, Group: 1}

func (m *machine) create(name string) (*overlay.File, *overlay.Handle) {
	m.Helper()
	f, h, err := m.tree.Create(context.Background(), m.tree.Root(), name, 0o644, false, overlay.Mode{Write: true, Truncate: true}, editor)
	if err != nil {
		m.Fatalf("creating %s: %v", name, err)
	}
	return f, h
}

func (m *machine) write(f *overlay.File, h *overlay.Handle, text string, off int64) {
	m.Helper()
	if err := m.tree.Write(context.Background(), f, h, []byte(text), off, editor); err != nil {
		m.Fatal(err)
	}
}

func (m *machine) close(h *overlay.Handle) {
	m.Helper()
	if err := m.tree.Flush(h, editor); err != nil {
		m.Fatal(err)
	}
	if err := m.tree.Release(h, editor); err != nil {
		m.Fatal(err)
	}
}

// save replaces a file's content, as `echo > f` does.
func (m *machine) save(name, text string) {
	m.Helper()
	f, h := m.create(name)
	m.write(f, h, text, 0)
	m.close(h)
}

// read returns what a name shows, "-" when nothing.
func (m *machine) read(name string) string {
	m.Helper()
	f, _, err := m.tree.Lookup(context.Background(), m.tree.Root(), name)
	if errors.Is(err, domarkx.ErrNotFound) {
		return "-"
	}
	if err != nil || f == nil {
		m.Fatalf("looking up %s: %v", name, err)
	}
	h, err := m.tree.Open(context.Background(), f, overlay.Mode{Read: true}, editor)
	if err != nil {
		m.Fatal(err)
	}
	defer m.tree.Release(h, editor)
	data := make([]byte, 1<<16)
	n, err := m.tree.Read(context.Background(), f, data, 0)
	if err != nil {
		m.Fatal(err)
	}
	if size := m.tree.Attr(f).Size; size != int64(n) {
		m.Errorf("%s is %d bytes long, but has %d", name, size, n)
	}
	return string(data[:n])
}

func (m *machine) unlink(name string) {
	m.Helper()
	if err := m.tree.Unlink(context.Background(), m.tree.Root(), name); err != nil {
		m.Fatal(err)
	}
}

func (m *machine) rename(from, to string) error {
	return m.tree.Rename(context.Background(), m.tree.Root(), from, m.tree.Root(), to, overlay.Replace, editor)
}

func (m *machine) history(name string) string {
	m.Helper()
	history, err := m.store.History(context.Background(), name)
	if errors.Is(err, domarkx.ErrNotFound) {
		return "-"
	}
	if err != nil {
		m.Fatal(err)
	}
	var all []string
	for _, info := range history {
		data, err := m.store.Markdown(context.Background(), info.ID)
		if err != nil {
			m.Fatal(err)
		}
		all = append(all, string(data))
	}
	return strings.Join(all, "|")
}

// at lets the clock go on, and checks what a session's history is then.
func (m *machine) at(after time.Duration, name, want string) {
	m.Helper()
	time.Sleep(after) // of the test's own clock
	synctest.Wait()
	if got := m.history(name); got != want {
		m.Errorf("the history of %s is %s, want %s", name, got, want)
	}
}

// timed runs a test with a clock of its own.
func timed(t *testing.T, test func(m *machine)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, dir)
		test(m)
		m.shutDown()
	})
}

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
		if got := m.tree.Troubled(); len(got) != 1 || got[0] != "s" {
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
		if got := m.tree.Troubled(); len(got) != 0 {
			t.Errorf("troubled: %q", got)
		}
	})
}

func TestUnrelatedSavesAreBothMade(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.at(time.Second, "s", "a")
		m.read("s.md")
		other := overlay.Caller{Process: 2, Group: 2}
		f, _, err := m.tree.Lookup(context.Background(), m.tree.Root(), "s.md")
		if err != nil {
			t.Fatal(err)
		}
		h, err := m.tree.Open(context.Background(), f, overlay.Mode{Read: true}, other)
		if err != nil {
			t.Fatal(err)
		}
		m.tree.Release(h, other)
		m.save("s.md", "a1")
		h, err = m.tree.Open(context.Background(), f, overlay.Mode{Write: true, Truncate: true}, other)
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
