//go:build unix

package sessions_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/sessions"
)

// errorsOf returns the file in errors/ of a session, "-" for none.
func (m *machine) errorsOf(name string) string {
	m.Helper()
	data, at, err := m.tree.SaveErrors(name)
	if errors.Is(err, domarkx.ErrNotFound) {
		return "-"
	}
	if err != nil || at.IsZero() || at.After(time.Now()) {
		m.Errorf("the errors of %s are of %v, %v", name, at, err)
	}
	return string(data)
}

const divider = "\n----------------------------------------------------------------------\n"

func TestABrokenSave(t *testing.T) {
	const want = "# s: this save is not in the session\n\nsessions/s.md still holds it: correct it there.\n\n" +
		"s.md:2:1: it is broken, expected something else\n\nThe 8 bytes that were saved follow this line." + divider + "a\nBROKEN\n"
	timed(t, func(m *machine) {
		m.save("s.md", "a\n")
		m.at(time.Second, "s", "a\n")
		if got := m.errorsOf("s"); got != "-" {
			t.Errorf("without an error: %s", got)
		}
		if err := m.tree.Dismiss(context.Background(), "s"); !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("dismissing nothing: %v", err)
		}
		m.save("s.md", "a\nBROKEN")
		m.at(time.Second, "s", "a\n")
		for _, when := range []string{"at once", "after a power cut"} {
			if got := m.errorsOf("s"); got != want {
				t.Errorf("%s: %q, expected %q", when, got, want)
			}
			if got := m.read("s.md"); got != "a\nBROKEN" {
				t.Errorf("%s, the file shows %q", when, got)
			}
			m.crash()
		}
		if err := m.tree.Dismiss(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := m.errorsOf("s"); got != "-" {
				t.Errorf("dismissed: %s", got)
			}
			if got := m.read("s.md"); got != "a\n" {
				t.Errorf("dismissed, the file shows %q", got)
			}
			m.crash()
		}
		m.at(time.Hour, "s", "a\n")
	})
}

func TestABrokenSaveIsMended(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.at(time.Second, "s", "a")
		m.save("s.md", "BROKEN")
		m.at(time.Second, "s", "a")
		m.read("s.md")
		m.save("s.md", "b")
		m.at(time.Second, "s", "a|b")
		if got := m.errorsOf("s"); got != "-" || len(m.tree.SessionsWithErrors()) > 0 {
			t.Errorf("mended: %s, %q", got, m.tree.SessionsWithErrors())
		}
	})
}

func TestDismissKeepsTheOnlyCopy(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("new.md", "BROKEN") // of a session that has no snapshot
		m.at(time.Second, "new", "-")
		if err := m.tree.Dismiss(context.Background(), "new"); !errors.Is(err, syscall.EBUSY) || !strings.Contains(err.Error(), "correct or remove its file") {
			t.Errorf("dismissing a session without a snapshot: %v", err)
		}
		if got := m.read("new.md"); got != "BROKEN" {
			t.Errorf("it shows %q", got)
		}
		m.save("s.md", "a")
		m.cut.set(syscall.ENOSPC)
		time.Sleep(time.Minute)
		got := m.errorsOf("s")
		if !strings.HasPrefix(got, "# s: this save is not in the session yet\n\n") || !strings.Contains(got, "no space left") || !strings.HasSuffix(got, divider+"a\n") {
			t.Errorf("a save that is retried: %s", got)
		}
		if err := m.tree.Dismiss(context.Background(), "s"); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("dismissing a save that is retried: %v", err)
		}
		m.cut.set(nil)
		m.at(2*time.Minute, "s", "a")
		m.unlink("new.md")
		if names := m.tree.SessionsWithErrors(); len(names) > 0 {
			t.Errorf("errors of %q", names)
		}
	})
}

func TestAMergedSaveIsReported(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		m.at(time.Second, "s", "a")
		m.save("s.md", "ab")
		if _, err := m.store.Write(context.Background(), "s", "aX"); err != nil {
			t.Fatal(err)
		}
		m.at(time.Second, "s", "a|aX|ab|aXb")
		if got := m.errorsOf("s"); !strings.HasPrefix(got, "# s: this save was merged\n\n") || !strings.HasSuffix(got, divider+"ab\n") {
			t.Errorf("%s", got)
		}
		m.cut.set(syscall.EIO)
		if err := m.tree.Dismiss(context.Background(), "s"); !errors.Is(err, syscall.EIO) || m.errorsOf("s") == "-" {
			t.Errorf("dismissing with a journal that fails: %v, %s", err, m.errorsOf("s"))
		}
		m.cut.set(nil)
		if err := m.tree.Dismiss(context.Background(), "s"); err != nil || m.errorsOf("s") != "-" {
			t.Errorf("%v, %s", err, m.errorsOf("s"))
		}
		m.crash()
		m.at(time.Hour, "s", "a|aX|ab|aXb")
	})
}

// TestContentLikeAFile writes, truncates, zeroes and reads a scratch file and a session's at random, also beyond
// the size up to which a scratch file is in memory, and compares them with a slice.
func TestContentLikeAFile(t *testing.T) {
	dir := t.TempDir()
	m := newMachine(t, dir)
	defer m.shutDown()
	ctx, large := context.Background(), 2<<20
	if testing.Short() {
		large = 1<<20 + 1<<10
	}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		name := rapid.SampledFrom([]string{"x~", "s.md"}).Draw(rt, "name")
		f, h, err := m.tree.Create(ctx, m.tree.Root(), name, 0o644, false, sessions.Mode{Read: true, Write: true, Truncate: true}, editor)
		if err != nil {
			rt.Fatal(err)
		}
		var want []byte
		place := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(1<<20-50, large))
		for range rapid.IntRange(1, 8).Draw(rt, "calls") {
			off, length := place.Draw(rt, "offset"), rapid.IntRange(1, 200).Draw(rt, "length")
			switch rapid.SampledFrom([]string{"write", "write", "truncate", "zero", "read"}).Draw(rt, "call") {
			case "write":
				data := bytes.Repeat([]byte{byte(1 + n%255)}, length)
				if err := m.tree.Write(ctx, f, h, data, int64(off), editor); err != nil {
					rt.Fatal(err)
				}
				want = append(want, make([]byte, max(0, off+length-len(want)))...)
				copy(want[off:], data)
			case "truncate":
				if err := m.tree.Truncate(ctx, f, h, int64(off), editor); err != nil {
					rt.Fatal(err)
				}
				want = append(want[:min(off, len(want)):min(off, len(want))], make([]byte, max(0, off-len(want)))...)
			case "zero":
				if err := m.tree.Zero(ctx, f, int64(off), int64(length), editor); err != nil {
					rt.Fatal(err)
				}
				if off < len(want) {
					clear(want[off:min(len(want), off+length)])
				}
			}
			got := make([]byte, len(want)+1)
			if read, err := m.tree.Read(ctx, f, got, 0); err != nil || !bytes.Equal(got[:read], want) || m.tree.Attr(f).Size != int64(len(want)) {
				rt.Fatalf("%s has %d bytes and size %d, expected %d, %v", name, read, m.tree.Attr(f).Size, len(want), err)
			}
			if read, err := m.tree.Read(ctx, f, got, int64(len(want))); read != 0 || err != nil {
				rt.Fatalf("at the end: %d bytes, %v", read, err)
			}
		}
		m.close(h)
	})
	if left, err := filepath.Glob(filepath.Join(dir, "domarkx-scratch-*")); len(left) > 0 || err != nil {
		t.Errorf("scratch files are left: %q, %v", left, err)
	}
}

func TestTooLarge(t *testing.T) {
	m := newMachine(t, t.TempDir())
	defer m.shutDown()
	ctx := context.Background()
	for name, want := range map[string]error{"s.md": syscall.EFBIG, "kept.txt": syscall.EFBIG, "scratch~": nil} {
		f, h := m.create(name)
		if err := m.tree.Truncate(ctx, f, h, 1<<30+1, editor); !errors.Is(err, want) {
			t.Errorf("truncating %s: %v", name, err)
		}
		if err := m.tree.Write(ctx, f, h, []byte("x"), 1<<30, editor); !errors.Is(err, want) {
			t.Errorf("writing %s: %v", name, err)
		}
		m.close(h)
	}
	if err := m.rename("scratch~", "s.md"); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("a large file as a session: %v", err)
	}
	if got := m.read("s.md"); got != "" {
		t.Errorf("the session has %d bytes", len(got))
	}
	m.unlink("scratch~")
}

// TestScratchWithoutSpace checks a large scratch file without a directory for it.
func TestScratchWithoutSpace(t *testing.T) {
	dir := t.TempDir()
	m := newMachine(t, dir)
	defer m.shutDown()
	m.with = func(c *sessions.Config) { c.Scratch = filepath.Join(dir, "none") }
	m.crash()
	f, h := m.create("x~")
	m.write(f, h, "small", 0)
	if err := m.tree.Truncate(context.Background(), f, h, 2<<20, editor); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	m.close(h)
	if got := m.read("x~"); got != "small" {
		t.Errorf("it has %q", got)
	}
}
