package original_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/domarkx/domarkx/gitstore/original"
)

// A repository stores originals. After each of them it stores the objects, so that the next one reads them.
type repository struct {
	db *odb.Database
}

func newRepository(t *testing.T) repository {
	t.Helper()
	db, err := odb.Open(filepath.Join(gittest.Init(t), ".git")+"/objects", oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return repository{db}
}

// tb is what tests and property tests have in common.
type tb interface {
	Helper()
	Fatal(...any)
}

// update stores what f writes, and the tree that it returns.
func (r repository) update(t tb, f func(*object.Writer) (string, error)) string {
	t.Helper()
	batch := r.db.Begin()
	defer batch.Abort()
	out := object.NewWriter(object.NewReader(r.db), batch)
	tree, err := f(out)
	if err == nil {
		tree, err = original.AddNote(out, tree, "a note")
	}
	if err == nil {
		err = batch.Sync()
	}
	if err == nil {
		err = batch.Settle()
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// write stores a document, after an earlier version of it if there is one.
func write(out *object.Writer, content string, after ...string) (string, error) {
	w, err := original.NewWriter(out, "claude-code", strings.NewReader(content), sha256.Sum256([]byte(content)))
	if err != nil {
		return "", err
	}
	for _, tree := range after {
		if err := w.Continue(tree); err != nil {
			return "", err
		}
	}
	return w.Finish(ctx)
}

// writePieces stores a document that grows in random steps, and reads some of them.
func writePieces(t *rapid.T, out *object.Writer, content string) (string, error) {
	g, err := original.NewGrower(out, "claude-code")
	if err != nil {
		return "", err
	}
	for content != "" {
		n := rapid.OneOf(rapid.Just(len(content)), rapid.IntRange(1, len(content))).Draw(t, "piece")
		if err := g.Append(ctx, []byte(content[:n])); err != nil {
			return "", err
		}
		if content = content[n:]; rapid.Bool().Draw(t, "look") {
			if _, err := g.Tree(ctx); err != nil {
				return "", err
			}
		}
	}
	return g.Tree(ctx)
}

func (r repository) save(t tb, content string) string {
	t.Helper()
	return r.update(t, func(out *object.Writer) (string, error) { return write(out, content) })
}

func (r repository) read(t tb, tree string) *original.Document {
	t.Helper()
	d, err := original.Read(object.NewReader(r.db), tree)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (r repository) content(t tb, tree string) string {
	t.Helper()
	content, err := r.read(t, tree).Open()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	data, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var ctx = context.Background()

// drawText returns lines of all lengths around those at which segments end; the last line may lack its end.
func drawText(t *rapid.T, label string) string {
	var b strings.Builder
	for range rapid.IntRange(0, 6).Draw(t, label+" lines") {
		n := rapid.SampledFrom([]int{0, 1, 100, 30 << 10, 64<<10 - 2, 64<<10 - 1, 64 << 10, 150 << 10}).Draw(t, label+" length")
		b.WriteString(strings.Repeat(rapid.SampledFrom([]string{"a", "b", "\r", "\x00"}).Draw(t, label+" letter"), n))
		if rapid.IntRange(0, 4).Draw(t, label+" cut") > 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// TestSameTree checks that a document has one tree, whether it is stored at once, after an earlier version of
// it, by growing that, or in pieces, and that its bytes and description come back.
func TestSameTree(t *testing.T) {
	r := newRepository(t)
	rapid.Check(t, func(t *rapid.T) {
		first, more := drawText(t, "first"), drawText(t, "more")
		whole := first + more
		sum := sha256.Sum256([]byte(whole))
		old := r.save(t, first)
		var other map[string]string
		tree := r.update(t, func(out *object.Writer) (tree string, err error) {
			other = map[string]string{}
			if other["after its earlier version"], err = write(out, whole, old); err != nil {
				return "", err
			}
			if other["grown"], err = original.Grow(ctx, out, old, []byte(more), sum); err != nil {
				return "", err
			}
			if other["in pieces"], err = writePieces(t, out, whole); err != nil {
				return "", err
			}
			for how := range other {
				if other[how], err = original.AddNote(out, other[how], "a note"); err != nil {
					return "", err
				}
			}
			return write(out, whole)
		})
		for how, got := range other {
			if got != tree {
				t.Errorf("%s: tree %s, want %s", how, got, tree)
			}
		}
		d := r.read(t, tree)
		if d.Format != "claude-code" || d.Size != int64(len(whole)) || d.SHA256 != sum || d.Note != "a note" {
			t.Errorf("described as %+v", d)
		}
		if got := r.content(t, tree); got != whole {
			t.Errorf("%d bytes came back of %d", len(got), len(whole))
		}
		if err := r.check(tree); err != nil {
			t.Error(err)
		}
		added, ok, err := d.Continues(ctx, r.read(t, old))
		if want := first != "" && strings.HasSuffix(first, "\n"); err != nil || ok != want || ok && string(added) != more {
			t.Errorf("continues its earlier version: %v, %d bytes of %d, %v", ok, len(added), len(more), err)
		}
	})
}

func (r repository) check(tree string) error {
	c := original.NewChecker(object.NewReader(r.db), r.writeTo)
	return errors.Join(c.Check(ctx, tree), c.Check(ctx, tree)) // the second time from what it knows
}

func (r repository) writeTo(w io.Writer, b domarkx.Blob) (int64, error) {
	content, _, err := object.NewReader(r.db).Open(b)
	if err != nil {
		return 0, err
	}
	defer content.Close()
	return io.Copy(w, content)
}

func TestContinues(t *testing.T) {
	r := newRepository(t)
	line := strings.Repeat("x", 40<<10) + "\n"
	long := strings.Repeat(line, 40) // more than one leaf of segments
	for name, c := range map[string]struct {
		old, now string
		added    string
		ok       bool
	}{
		"a line more":          {"one\n", "one\ntwo\n", "two\n", true},
		"nothing more":         {"one\n", "one\n", "", true},
		"the rest of a line":   {"on", "one\n", "", false},
		"another line":         {"one\n", "two\n", "", false},
		"less":                 {"one\ntwo\n", "one\n", "", false},
		"from nothing":         {"", "one\n", "", false},
		"many segments":        {long, long + "end\n", "end\n", true},
		"many segments more":   {"one\n", "one\n" + long, long, true},
		"another beginning":    {long, "y" + long[1:] + "end\n", "", false},
		"another last segment": {long + "one\n", long + "two\nthree\n", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			added, ok, err := r.read(t, r.save(t, c.now)).Continues(ctx, r.read(t, r.save(t, c.old)))
			if err != nil || ok != c.ok || string(added) != c.added {
				t.Errorf("%v with %d bytes more, %v; want %v with %d", ok, len(added), err, c.ok, len(c.added))
			}
		})
	}
	if _, ok, err := r.read(t, r.save(t, long)).Continues(ctx, nil); ok || err != nil {
		t.Errorf("continues nothing: %v, %v", ok, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := r.read(t, r.save(t, long+"end\n")).Continues(ended, r.read(t, r.save(t, long))); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// TestLongLine checks that a line that is too large for one blob is stored in chunks, and comes back.
func TestLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("stores 17 MB several times")
	}
	r := newRepository(t)
	line := strings.Repeat("0123456789abcdef", chunked.Threshold/16+1) + "\n"
	first := r.save(t, "before\n"+line)
	content := "before\n" + line + "after\n"
	tree := r.update(t, func(out *object.Writer) (string, error) { return write(out, content, first) })
	if got := r.content(t, tree); got != content {
		t.Errorf("%d bytes came back of %d", len(got), len(content))
	}
	if err := r.check(tree); err != nil {
		t.Error(err)
	}
	grown := r.update(t, func(out *object.Writer) (string, error) {
		return original.Grow(ctx, out, first, []byte("after\n"), sha256.Sum256([]byte(content)))
	})
	if grown != tree {
		t.Errorf("grown: tree %s, want %s", grown, tree)
	}
}

func TestNotes(t *testing.T) {
	r := newRepository(t)
	tree := r.save(t, "one\n")
	if again := r.update(t, func(out *object.Writer) (string, error) { return original.AddNote(out, tree, "another note") }); again != tree {
		t.Errorf("a second note replaced the first: %s", again)
	}
	renoted := r.update(t, func(out *object.Writer) (string, error) {
		plain, err := original.WithoutNote(out, tree)
		if err != nil {
			return "", err
		}
		if d, err := original.Read(out.Reader, plain); err != nil || d.Note != "" {
			t.Errorf("without a note: %+v, %v", d, err)
		}
		return original.AddNote(out, plain, "another note")
	})
	if d := r.read(t, renoted); d.Note != "another note" || r.content(t, renoted) != "one\n" {
		t.Errorf("noted again: %+v", d)
	}
}

// TestDamage checks that an original that is not whole is never returned as if it were.
func TestDamage(t *testing.T) {
	r := newRepository(t)
	good := r.save(t, "one\n")
	edit := func(f func([]odb.TreeEntry, *object.Writer) ([]odb.TreeEntry, error)) string {
		return r.update(t, func(out *object.Writer) (string, error) {
			id, err := odb.ParseID(good)
			if err != nil {
				return "", err
			}
			entries, err := out.Tree(id)
			if err == nil {
				entries, err = f(entries, out)
			}
			if err != nil {
				return "", err
			}
			tree, err := out.WriteTree(entries)
			return tree.String(), err
		})
	}
	describe := func(text string) string {
		return edit(func(entries []odb.TreeEntry, out *object.Writer) ([]odb.TreeEntry, error) {
			id, err := out.Write(odb.Blob, []byte(text))
			for i := range entries {
				if entries[i].Name == "original" {
					entries[i].ID = id
				}
			}
			return entries, err
		})
	}
	sum := sha256.Sum256([]byte("one\n"))
	line := func(size, segments string) string {
		return describe("format claude-code\nsize " + size + "\nsegments " + segments + "\nsha256 " + hexOf(sum) + "\n")
	}
	if got := line("4", "1"); got != good {
		t.Fatalf("the description is written in another way: %s, want %s", got, good)
	}
	for name, c := range map[string]struct {
		tree     string
		readable bool // the description is
	}{
		"no description":       {edit(without("original")), false},
		"an empty description": {describe(""), false},
		"a negative size":      {line("-4", "1"), false},
		"not canonical":        {line("04", "1"), false},
		"another size":         {line("5", "1"), true},
		"another count":        {line("4", "2"), true},
		"too many segments":    {line("4", "1000000"), true},
		"another digest":       {describe("format claude-code\nsize 4\nsegments 1\nsha256 " + strings.Repeat("0", 64) + "\n"), true},
		"no segments":          {edit(without("segments")), true},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := original.Read(object.NewReader(r.db), c.tree)
			if (err == nil) != c.readable || err != nil && !errors.Is(err, domarkx.ErrCorrupt) {
				t.Fatalf("described as %+v, %v", d, err)
			}
			if err := r.check(c.tree); !errors.Is(err, domarkx.ErrCorrupt) {
				t.Errorf("checked: %v", err)
			}
			if !c.readable {
				return
			}
			content, err := d.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer content.Close()
			if data, err := io.ReadAll(content); !errors.Is(err, domarkx.ErrCorrupt) {
				t.Errorf("read %q, %v", data, err)
			}
		})
	}
}

func without(name string) func([]odb.TreeEntry, *object.Writer) ([]odb.TreeEntry, error) {
	return func(entries []odb.TreeEntry, _ *object.Writer) ([]odb.TreeEntry, error) {
		return object.WithDirectory(entries, name, odb.ID{}), nil
	}
}

func hexOf(sum [32]byte) string { return hex.EncodeToString(sum[:]) }

func TestRefused(t *testing.T) {
	r := newRepository(t)
	batch := r.db.Begin()
	defer batch.Abort()
	out := object.NewWriter(object.NewReader(r.db), batch)
	for _, format := range []string{"", "Claude", "a b", "a\nsize 0", "../x"} {
		if _, err := original.NewWriter(out, format, strings.NewReader(""), [32]byte{}); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("a writer of format %q: %v", format, err)
		}
		if _, err := original.NewGrower(out, format); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("a grower of format %q: %v", format, err)
		}
	}
	broken := errors.New("the disk is gone")
	w, err := original.NewWriter(out, "pi", io.MultiReader(strings.NewReader("one\n"), iotest.ErrReader(broken)), [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(ctx); !errors.Is(err, broken) {
		t.Errorf("a document that cannot be read: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	w, err = original.NewWriter(out, "pi", strings.NewReader("one\n"), [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	for _, tree := range []string{"", "main", strings.Repeat("1", 40)} {
		if _, err := original.Read(out.Reader, tree); err == nil {
			t.Errorf("read the original %q", tree)
		}
	}
}
