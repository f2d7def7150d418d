//go:build unix

package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/internal/storetest"
	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

var errCut = errors.New("the power is cut")

// A machine is a store with a mount over it whose power can be cut.
type machine struct {
	testing.TB
	dir   string
	store *storetest.Store
	tree  *sessions.Tree
	cut   *cut
	saves []string // what became of saves, in order

	with     func(*sessions.Config) // changes the configuration of the tree; nil for nothing
	writes   int                    // of the next boot, after which the power is cut; negative: never
	onSettle func()                 // completes the running work of a dead mount
}

// cut stands between the tree and the durable state, and can cut the power.
type cut struct {
	*drafts.Journal
	*storetest.Store
	m *machine

	onPut func(drafts.Draft) // called before a draft is written; nil for nothing

	mu   sync.Mutex
	fail error // of all writes
	left int   // writes before that; negative: any number
}

func (c *cut) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 {
		return errCut
	}
	c.left--
	return c.fail
}

func (c *cut) set(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = err
}

func (c *cut) Put(d drafts.Draft) (string, error) {
	if c.onPut != nil {
		c.onPut(d)
	}
	if err := c.err(); err != nil {
		return "", err
	}
	return c.Journal.Put(d)
}

func (c *cut) Delete(keys ...string) error {
	if err := c.err(); err != nil {
		return err
	}
	return c.Journal.Delete(keys...)
}

func (c *cut) Save(ctx context.Context, name, base string, data []byte) (sessions.SaveResult, error) {
	if err := c.err(); err != nil {
		return sessions.SaveResult{}, err
	}
	r, err := c.Store.Save(ctx, name, base, data)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.m.saves = append(c.m.saves, fmt.Sprintf("%s=%q", name, data))
	return r, err
}

func (c *cut) Settle(ctx context.Context) error {
	if c.m.onSettle != nil {
		c.m.onSettle()
	}
	return c.Store.Settle(ctx)
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
	m := &machine{TB: t, dir: dir, store: store, writes: -1}
	m.boot()
	return m
}

func (m *machine) boot() {
	m.Helper()
	journal, err := drafts.Open(filepath.Join(m.dir, "drafts"))
	if err != nil {
		m.Fatal(err)
	}
	m.cut = &cut{Journal: journal, Store: m.store, m: m, left: m.writes}
	config := sessions.Config{Sessions: m.store, Snapshots: m.store, Saver: m.cut, Journal: m.cut, Scratch: m.dir}
	if m.with != nil {
		m.with(&config)
	}
	m.tree = sessions.New(config)
	found, err := journal.Adopt()
	if err != nil {
		m.Fatal(err)
	}
	if err := m.tree.Adopt(context.Background(), found); err != nil && !errors.Is(err, errCut) {
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

var editor = basis.Caller{Process: 1, Group: 1}

func (m *machine) create(name string) (*sessions.File, *sessions.Handle) {
	m.Helper()
	f, h, err := m.tree.Create(context.Background(), m.tree.Root(), name, 0o644, false, sessions.Mode{Write: true, Truncate: true}, editor)
	if err != nil {
		m.Fatalf("creating %s: %v", name, err)
	}
	return f, h
}

func (m *machine) write(f *sessions.File, h *sessions.Handle, text string, off int64) {
	m.Helper()
	if err := m.tree.Write(context.Background(), f, h, []byte(text), off, editor); err != nil {
		m.Fatal(err)
	}
}

func (m *machine) close(h *sessions.Handle) {
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

// read returns the content of a name, or "-" if it does not exist.
func (m *machine) read(name string) string { m.Helper(); return m.readBy(editor, name) }

func (m *machine) readBy(c basis.Caller, name string) string {
	m.Helper()
	f, _, err := m.tree.Lookup(context.Background(), m.tree.Root(), name)
	if errors.Is(err, domarkx.ErrNotFound) {
		return "-"
	}
	if err != nil || f == nil {
		m.Fatalf("looking up %s: %v", name, err)
	}
	h, err := m.tree.Open(context.Background(), f, sessions.Mode{Read: true}, c)
	if err != nil {
		m.Fatal(err)
	}
	defer m.tree.Release(h, c)
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
	return m.tree.Rename(context.Background(), m.tree.Root(), from, m.tree.Root(), to, sessions.Replace, editor)
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

// at advances the clock and checks the history of a session.
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
