//go:build unix

package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// TestFilesAndSessionsSurvive does what programs do with sessions, with files beside them and with temporary files, while
// the mount ends now and then, with and without warning. Everything but the temporary files is there afterwards, and
// nothing else.
func TestFilesAndSessionsSurvive(t *testing.T) {
	playAtRandom(t, []string{
		"save", "save", "touch", "empty", "unlink", "unlink", "rename", "rename", "rename", "read", "hold", "begin", "begin", "more", "more", "end", "release", "release", "crash", "remount", "wait", "moment",
	}, []string{"a.md", "b.md", "c.txt", "d.png", "e~"}, playFiles)
}

// playFiles does the steps, each with up to two of the names, and returns what went wrong.
func playFiles(m *machine, steps, names []string) string {
	model := map[string]string{} // what each name shows
	var open []*sessions.Handle  // of programs that read
	type writer struct {
		f    *sessions.File
		h    *sessions.Handle
		text string
		name string // that the file has; "" if it lost its name
	}
	var writers []*writer
	lose := func(n string) {
		for _, w := range writers {
			if w.name == n {
				w.name = ""
			}
		}
	}
	var closed []*sessions.Handle // of programs that closed them; the kernel has not said so yet
	release := func(n int) {
		for _, h := range closed[:n] {
			if err := m.tree.Release(h, basis.Caller{}); err != nil {
				m.Fatal(err)
			}
		}
		closed = closed[n:]
	}
	save := func(n, text string) {
		f, h := m.create(n)
		if text != "" {
			if err := m.tree.Write(context.Background(), f, nil, []byte(text), 0, basis.Caller{}); err != nil {
				m.Fatal(err)
			}
		}
		if err := m.tree.Flush(h, editor); err != nil {
			m.Fatal(err)
		}
		closed = append(closed, h)
		model[n] = text
	}
	var log []string
	away := map[string]string{} // sessions that moved away, and what they had; the next mount may show them again
	end := func(how func()) {
		how()
		open, writers, closed = nil, nil, nil
		maps.DeleteFunc(model, func(n, _ string) bool { return sessions.IsScratch(n) })
		for n, text := range away {
			_, there := model[n]
			if _, isSession := sessions.SessionOf(n); isSession && !there && m.readBy(other, n) == text {
				model[n] = text
			}
		}
		clear(away)
	}
	remount := func() {
		release(len(closed))
		for _, w := range writers {
			if err := m.tree.Release(w.h, editor); err != nil {
				m.Fatal(err)
			}
		}
		for _, h := range open {
			m.close(h)
		}
		end(func() { m.shutDown(); m.boot() })
	}
	for i, step := range steps {
		n, to, text := names[2*i], names[2*i+1], fmt.Sprintf("<%d>", i)
		_, there := model[n]
		written := slices.ContainsFunc(writers, func(w *writer) bool { return w.name == n })
		if written && (step == "save" || step == "empty" || step == "begin") {
			continue // two writers of one file
		}
		log = append(log, step+" "+n+" "+to)
		switch step {
		case "save":
			save(n, text)
		case "touch":
			if !there {
				save(n, "")
			}
		case "empty":
			if there {
				save(n, "")
			}
		case "read":
			m.read(n)
		case "hold": // a program reads while others change the name
			if f, _, err := m.tree.Lookup(context.Background(), m.tree.Root(), n); err == nil {
				h, err := m.tree.Open(context.Background(), f, sessions.Mode{Read: true}, editor)
				if err != nil {
					return err.Error()
				}
				open = append(open, h)
			}
		case "begin":
			f, h := m.create(n)
			m.write(f, h, text, 0)
			if err := m.tree.Flush(h, editor); err != nil {
				return err.Error()
			}
			model[n] = text
			writers = append(writers, &writer{f, h, text, n})
		case "more":
			if len(writers) > 0 {
				w := writers[0]
				m.write(w.f, w.h, text, int64(len(w.text)))
				w.text += text
				if err := m.tree.Flush(w.h, editor); err != nil {
					return err.Error()
				}
				if w.name != "" {
					model[w.name] = w.text
				}
			}
		case "end":
			if len(writers) > 0 {
				if err := m.tree.Release(writers[0].h, editor); err != nil {
					return err.Error()
				}
				writers = writers[1:]
			}
		case "unlink":
			lose(n)
			err := m.tree.Unlink(context.Background(), m.tree.Root(), n)
			if there == errors.Is(err, domarkx.ErrNotFound) || there && err != nil {
				return fmt.Sprintf("%q: %v", log, err)
			}
			delete(model, n)
		case "rename":
			_, isSession := sessions.SessionOf(n)
			_, remains := sessions.SessionOf(to)
			if !there || n == to {
				continue
			}
			if _, carried := away[n]; carried && !remains || isSession && !remains { // it stays in the store: the first half of a save in some editors
				away[n], away[to] = model[n], model[n]
			}
			if err := m.rename(n, to); err != nil {
				return fmt.Sprintf("%q: %v", log, err)
			}
			lose(to)
			for _, w := range writers {
				if w.name == n {
					w.name = to
				}
			}
			model[to] = model[n]
			delete(model, n)
		case "crash":
			end(m.crash)
		case "release":
			release(min(1, len(closed)))
		case "remount":
			remount()
		case "wait":
			time.Sleep(2 * time.Second)
		case "moment":
			time.Sleep(300 * time.Millisecond)
		}
		if wrong := checkFiles(m, model); wrong != "" {
			return fmt.Sprintf("after %q: %s", log, wrong)
		}
	}
	remount()
	if wrong := checkFiles(m, model); wrong != "" {
		return fmt.Sprintf("after %q and a remount: %s", log, wrong)
	}
	return ""
}

// other is a program that only reads.
var other = basis.Caller{Process: 2, Group: 2}

func checkFiles(m *machine, model map[string]string) string {
	entries, err := m.tree.List(context.Background(), m.tree.Root())
	if err != nil {
		return err.Error()
	}
	var listed []string
	for _, e := range entries {
		listed = append(listed, e.Name)
	}
	if want := slices.Sorted(maps.Keys(model)); !slices.Equal(listed, want) {
		return fmt.Sprintf("the directory lists %q, want %q; saves %q", listed, want, m.saves)
	}
	for n, want := range model {
		if got := m.readBy(other, n); got != want {
			return fmt.Sprintf("%s shows %q, want %q; saves %q", n, got, want, m.saves)
		}
	}
	return ""
}
