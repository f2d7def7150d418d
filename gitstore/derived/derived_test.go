package derived_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/derived"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// files returns the slash-separated paths of all files below a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestReadWhatWasWritten checks that content is read only if every byte of it is as it was written.
func TestReadWhatWasWritten(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{"", "a", strings.Repeat("text\n", 1000)} {
		if err := derived.Sessions.Write(dir, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, ok := derived.Sessions.Read(dir); !ok || got != content {
			t.Errorf("read %.20q, %t; want %.20q", got, ok, content)
		}
		path := derived.Sessions.Path(dir, "")
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := range min(len(whole), 60) {
			write(t, path, string(whole[:n]))
			if _, ok := derived.Sessions.Read(dir); ok {
				t.Errorf("read the first %d of %d bytes", n, len(whole))
			}
			damaged := bytes.Clone(whole)
			damaged[n] ^= 1
			write(t, path, string(damaged))
			if _, ok := derived.Sessions.Read(dir); ok {
				t.Errorf("read content with byte %d changed", n)
			}
		}
		write(t, derived.Conflicts.Path(dir, ""), string(whole))
		if _, ok := derived.Conflicts.Read(dir); ok {
			t.Error("read the file of another kind")
		}
	}
	if err := derived.Sessions.Write(filepath.Join(dir, "none"), nil); err == nil {
		t.Error("wrote into a directory that does not exist")
	}
	if got := files(t, dir); len(got) != 2 {
		t.Errorf("files are left: %q", got)
	}
}

// TestRemoveTexts checks that every derived file is removed, and no other file.
func TestRemoveTexts(t *testing.T) {
	dir := t.TempDir()
	others := []string{"drafts/a", "lock", "observed/1/tree.json", "scan.md"}
	for _, k := range derived.Kinds() {
		for _, key := range []string{"1", "2"} {
			path := k.Path(dir, key)
			name, err := filepath.Rel(dir, path)
			if err != nil {
				t.Fatal(err)
			}
			if !derived.Has(filepath.ToSlash(name)) {
				t.Errorf("%s is not known as a derived file", name)
			}
			write(t, path, "text")
		}
	}
	write(t, filepath.Join(dir, "search.db-journal"), "text")
	for _, name := range others {
		if derived.Has(name) {
			t.Errorf("%s counts as a derived file", name)
		}
		write(t, filepath.Join(dir, name), "text")
	}
	if err := derived.RemoveTexts(dir, derived.Search); err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(others), "search.db", "search.db-journal")
	slices.Sort(want)
	got := files(t, dir)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
	if err := derived.RemoveTexts(dir); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); slices.Contains(got, "search.db") || slices.Contains(got, "search.db-journal") {
		t.Errorf("left are %q", got)
	}
}

// FuzzDecoder checks that no input makes a decoder fail or reserve memory, and that texts are read as they were appended.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte{3, 'a', 'b', 'c', 1}, "text")
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, "")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		d := derived.NewDecoder(string(data))
		for d.More() {
			left := d.Left()
			if n := d.Count(2); n > d.Left()/2 {
				t.Fatalf("%d items in %d bytes", n, d.Left())
			}
			d.Text()
			d.Varint()
			if d.Left() >= left {
				t.Fatal("the decoder does not advance")
			}
		}
		again := derived.NewDecoder(string(derived.AppendText(nil, text)))
		if got := again.Text(); got != text || again.Bad() || again.More() {
			t.Errorf("read %q, want %q", got, text)
		}
	})
}
