package database_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"pgregory.net/rapid"
)

// write stores a version with files by path and returns its id.
func write(t *testing.T, m *plugintest.Memory, files map[string]string) string {
	t.Helper()
	w, err := m.Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := database.Begin(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := v.File(t.Context(), path, []byte(files[path])); err != nil {
			t.Fatal(err)
		}
	}
	id, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestFiles(t *testing.T) {
	m := plugintest.NewMemory()
	want := map[string]string{"a.txt": "a", "t/b/2": "", "t/b/1": "one", "t/c": "c"}
	version := write(t, m, want)
	files, err := database.Files(t.Context(), m, version)
	if err != nil || len(files) != len(want) {
		t.Fatalf("%v, %v", files, err)
	}
	for path, f := range files {
		if data, err := database.Read(t.Context(), m, f, 3); err != nil || string(data) != want[path] {
			t.Errorf("%s: %q, %v", path, data, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := database.Files(ended, m, version); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
	if m.Open() != 0 {
		t.Errorf("%d contents are open", m.Open())
	}
}

// odd is a reader of versions with one content, in directories that contain each other without end.
type odd struct {
	plugintest.Memory
	entry domarkx.File
}

func (o *odd) Top(context.Context, string) (domarkx.File, error) {
	return domarkx.File{Type: domarkx.Directory}, nil
}

func (o *odd) Directory(context.Context, string) ([]domarkx.File, error) {
	return []domarkx.File{o.entry}, nil
}

func (o *odd) Content(context.Context, string) (domarkx.Content, error) {
	return content{bytes.NewReader([]byte("abc"))}, nil
}

type content struct{ *bytes.Reader }

func (content) Close() error { return nil }

func TestDamagedVersions(t *testing.T) {
	m := plugintest.NewMemory()
	directory := domarkx.File{Name: "d", Type: domarkx.Directory}
	list := func(r domarkx.VersionReader, version string) error {
		_, err := database.Files(t.Context(), r, version)
		return err
	}
	for name, c := range map[string]struct {
		read func() error
		want error
	}{
		"an unknown version":        {func() error { return list(m, "none") }, domarkx.ErrNotFound},
		"endless directories":       {func() error { return list(&odd{entry: directory}, "") }, domarkx.ErrCorrupt},
		"a link among the files":    {func() error { return list(&odd{entry: domarkx.File{Name: "l", Type: domarkx.Symlink}}, "") }, domarkx.ErrCorrupt},
		"a missing content":         {func() error { return database.Copy(t.Context(), m, domarkx.File{ID: "none"}, io.Discard) }, domarkx.ErrNotFound},
		"a content that is shorter": {func() error { return database.Copy(t.Context(), &odd{}, domarkx.File{Size: 4}, io.Discard) }, domarkx.ErrCorrupt},
		"a directory for a file":    {func() error { _, err := database.Read(t.Context(), m, directory, 9); return err }, domarkx.ErrCorrupt},
		"a file over the limit":     {func() error { _, err := database.Read(t.Context(), &odd{}, domarkx.File{Size: 3}, 2); return err }, domarkx.ErrCorrupt},
	} {
		if err := c.read(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, expected %v", name, err, c.want)
		}
	}
}

// TestLarge checks that a large file is stored in parts where the writer can do that.
func TestLarge(t *testing.T) {
	for name, hide := range map[string]bool{"in parts": false, "whole": true} {
		m := plugintest.NewMemory()
		w, err := m.Begin(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		var given domarkx.VersionWriter = w
		if hide {
			given = struct{ domarkx.VersionWriter }{w}
		}
		v, err := database.Begin(t.Context(), given)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Large(t.Context(), "db", strings.NewReader("content"), 7); err != nil {
			t.Fatal(err)
		}
		id, err := w.Finish(t.Context())
		if files := databasetest.Files(t, m, id); err != nil || files["db"] != "content" || (m.Parts() == 1) == hide {
			t.Errorf("%s: %v, %d in parts, %v", name, files, m.Parts(), err)
		}
	}
}

// broken is a version whose writer fails after a number of operations.
type broken struct {
	plugins.Pending
	left int
}

var errBroken = errors.New("broken")

func (b *broken) Add(ctx context.Context, path string, f domarkx.File) error {
	if b.left--; b.left < 0 {
		return errBroken
	}
	return b.Pending.Add(ctx, path, f)
}

func (b *broken) Content(ctx context.Context, r io.Reader) (string, int64, error) {
	if b.left--; b.left < 0 {
		return "", 0, errBroken
	}
	return b.Pending.Content(ctx, r)
}

// TestWriterFails lets each operation of a version's writer fail once.
func TestWriterFails(t *testing.T) {
	commit := func(left int) error {
		w, err := plugintest.NewMemory().Begin(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		v, err := database.Begin(t.Context(), &broken{w, left})
		if err != nil {
			return err
		}
		rows := v.Lines("d/rows", "txt")
		for i := range 20_000 { // several files
			if err := rows.Add(t.Context(), []byte(strconv.Itoa(i)+"\n")); err != nil {
				return err
			}
		}
		if err := rows.End(t.Context()); err != nil {
			return err
		}
		return v.Large(t.Context(), "large", strings.NewReader("x"), 1)
	}
	left := 0
	for ; ; left++ {
		err := commit(left)
		if err == nil {
			break
		}
		if !errors.Is(err, errBroken) {
			t.Fatalf("after %d operations: %v", left, err)
		}
	}
	if left < 10 {
		t.Errorf("only %d operations", left)
	}
}

// TestRowsStayInOrder checks that the files of a table, in the order of Walk, are its rows.
func TestRowsStayInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count, width := rapid.IntRange(0, 3000).Draw(rt, "rows"), rapid.IntRange(1, 400).Draw(rt, "width")
		seed := rapid.IntRange(0, 1000).Draw(rt, "first")
		var lines []string
		for i := range count {
			lines = append(lines, strings.Repeat("x", (i*7+seed)%width)+strconv.Itoa(seed+i)+"\n")
		}
		files := give(t, plugintest.NewMemory(), lines)
		var whole strings.Builder
		for _, path := range slices.Sorted(maps.Keys(files)) {
			if size := len(files[path]); size > 256<<10+width+10 {
				rt.Errorf("%s has %d bytes", path, size)
			}
			whole.WriteString(files[path])
		}
		if want := strings.Join(lines, ""); whole.String() != want {
			rt.Errorf("%d bytes of %d, or in another order", whole.Len(), len(want))
		}
	})
}
