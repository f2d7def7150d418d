//go:build unix

package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// TestNothingAcknowledgedIsLost does what programs do, in any order, while the
// power is cut now and then: acknowledged saves are there afterwards, and
// nothing else.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	playAtRandom(t, []string{
		"save", "save", "save", "append", "unlink", "rename", "rename", "scratch", "adopt", "crash", "wait", "outside", "break", "half", "halves", "late",
	}, []string{"a.md", "b.md", "c.md"}, play)
}

// playAtRandom plays random steps, each with up to two random names, on machines of their own.
func playAtRandom(t *testing.T, steps, names []string, play func(m *machine, steps, names []string) (failure string)) {
	t.Helper()
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		here := fmt.Sprintf("%s/%d", dir, run)
		steps := rapid.SliceOfN(rapid.SampledFrom(steps), 1, 30).Draw(rt, "steps")
		names := rapid.SliceOfN(rapid.SampledFrom(names), 2*len(steps), 2*len(steps)).Draw(rt, "names")
		var failure string
		defer func() { os.RemoveAll(here) }()
		synctest.Test(t, func(t *testing.T) {
			m := newMachine(t, here)
			failure = play(m, steps, names)
			m.shutDown()
		})
		if failure != "" {
			rt.Fatal(failure)
		}
	})
}

// play does the steps, each with up to two of the names, and returns what went
// wrong.
func play(m *machine, steps, names []string) string {
	name := func() string {
		n := names[0]
		names = names[1:]
		return n
	}
	model := map[string]string{} // what each name shows
	var open []*sessions.Handle  // of programs in the middle of a save
	finish := func() {
		for _, h := range open {
			m.close(h)
		}
		open = nil
	}
	for i, step := range steps {
		text := fmt.Sprintf("<%d>", i)
		switch step {
		case "save":
			n := name()
			m.read(n)
			m.save(n, text)
			model[n] = text
		case "break":
			n := name()
			m.read(n)
			m.save(n, "BROKEN"+text)
			model[n] = "BROKEN" + text
		case "append":
			n := name()
			f, h, err := m.tree.Create(context.Background(), m.tree.Root(), n, 0o644, false, sessions.Mode{Read: true, Write: true}, editor)
			if err != nil {
				return fmt.Sprintf("appending to %s: %v", n, err)
			}
			m.write(f, h, text, int64(len(model[n])))
			m.close(h)
			model[n] += text
		case "half", "halves": // a child closes the file that it inherited
			n := name()
			m.read(n)
			f, h := m.create(n)
			m.write(f, h, text, 0)
			if err := m.tree.Flush(h, editor); err != nil {
				return fmt.Sprintf("step %d: %v", i, err)
			}
			open = append(open, h)
			if step == "halves" {
				m.write(f, h, text, int64(len(text)))
				finish()
				text += text
			}
			model[n] = text
		case "late": // the release of one save comes in the middle of the next
			n := name()
			m.read(n)
			f, h := m.create(n)
			m.write(f, h, "first", 0)
			if err := m.tree.Flush(h, editor); err != nil {
				return fmt.Sprintf("step %d: %v", i, err)
			}
			f, next := m.create(n)
			m.write(f, next, text, 0)
			if err := m.tree.Release(h, basis.Caller{}); err != nil {
				return fmt.Sprintf("step %d: %v", i, err)
			}
			m.close(next)
			model[n] = text
		case "unlink":
			n := name()
			err := m.tree.Unlink(context.Background(), m.tree.Root(), n)
			if _, there := model[n]; there == errors.Is(err, domarkx.ErrNotFound) || there && err != nil {
				return fmt.Sprintf("step %d: removing %s: %v, but it shows %q", i, n, err, model[n])
			}
			delete(model, n)
		case "rename":
			from, to := name(), name()
			err := m.rename(from, to)
			text, there := model[from]
			if there == errors.Is(err, domarkx.ErrNotFound) || there && err != nil {
				return fmt.Sprintf("step %d: renaming %s to %s: %v, but it shows %q", i, from, to, err, text)
			}
			if there && from != to {
				model[to] = text
				delete(model, from)
			}
		case "scratch": // as vim: away, and a new file
			n := name()
			if _, there := model[n]; !there {
				continue
			}
			m.read(n)
			if err := m.rename(n, n+"~"); err != nil {
				return fmt.Sprintf("step %d: %v", i, err)
			}
			m.save(n, text)
			m.unlink(n + "~")
			model[n] = text
		case "adopt": // a temporary file and a rename
			n := name()
			m.read(n)
			m.save(".tmp", text)
			if err := m.rename(".tmp", n); err != nil {
				return fmt.Sprintf("step %d: %v", i, err)
			}
			model[n] = text
		case "crash":
			m.crash()
			open = nil
		case "wait":
			time.Sleep(2 * time.Second)
		case "outside":
			n := name()
			finish()
			time.Sleep(2 * time.Second)
			if strings.Contains(model[n], "BROKEN") {
				continue
			}
			if _, err := m.store.Write(context.Background(), strings.TrimSuffix(n, ".md"), text); err != nil {
				return err.Error()
			}
			model[n] = text
		}
		if wrong := check(m, model); wrong != "" {
			return fmt.Sprintf("after step %d of %q (%s): %s", i, steps, step, wrong)
		}
	}
	finish()
	time.Sleep(2 * time.Second)
	for n, text := range model {
		if got := lastOf(m.history(strings.TrimSuffix(n, ".md"))); !strings.Contains(text, "BROKEN") && got != text {
			return fmt.Sprintf("after %q: the snapshot of %s is %q, want %q; saves %q", steps, n, got, text, m.saves)
		}
	}
	m.crash()
	return check(m, model)
}

func lastOf(history string) string { return history[strings.LastIndexByte(history, '|')+1:] }

func check(m *machine, model map[string]string) string {
	for _, n := range []string{"a.md", "b.md", "c.md"} {
		want, there := model[n]
		if !there {
			want = "-"
		}
		if got := m.read(n); got != want {
			return fmt.Sprintf("%s shows %q, want %q; saves %q", n, got, want, m.saves)
		}
	}
	entries, err := m.tree.List(context.Background(), m.tree.Root())
	if err != nil {
		return err.Error()
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	if want := slices.Sorted(maps.Keys(model)); !slices.Equal(names, want) {
		return fmt.Sprintf("the directory lists %q, want %q", names, want)
	}
	return ""
}
