package snapshot_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// attach commits a snapshot with attached files, by path.
func (r repository) attach(t tb, files map[string]string, parents ...string) (info domarkx.Info) {
	t.Helper()
	r.update(t, func(b *snapshot.Builder) error {
		c := commitOf(conversation(1, nil), parents...)
		for path, text := range files {
			blob, sum, err := b.StoreAttachment(ctx, strings.NewReader(text))
			if err != nil {
				return err
			}
			c.Attachments = append(c.Attachments, domarkx.Attachment{SHA256: sum, Blob: blob})
			c.Files = append(c.Files, domarkx.AttachedFile{Path: path, SHA256: sum})
		}
		var err error
		info, err = b.Commit(ctx, c)
		return err
	})
	return info
}

func (r repository) files(t tb, id string) []domarkx.AttachedFile {
	t.Helper()
	files, err := r.reader.Files(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestAttachedFiles checks which content a path has, in one line of snapshots and after a merge.
func TestAttachedFiles(t *testing.T) {
	r := newRepository(t)
	is := func(path, text string) domarkx.AttachedFile {
		return domarkx.AttachedFile{Path: path, SHA256: digestOf(text), Size: int64(len(text))}
	}
	first := r.attach(t, map[string]string{"a.png": "one", "b/c.txt": "other"})
	if got, want := r.files(t, first.ID), []domarkx.AttachedFile{is("a.png", "one"), is("b/c.txt", "other")}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	second := r.attach(t, map[string]string{"a.png": "two"}, first.ID)
	if got, want := r.files(t, second.ID), []domarkx.AttachedFile{is("a.png", "two"), is("b/c.txt", "other")}; !slices.Equal(got, want) {
		t.Errorf("replaced: files %v, want %v", got, want)
	}
	back := r.attach(t, map[string]string{"a.png": "one"}, second.ID)
	if got := r.files(t, back.ID); got[0] != is("a.png", "one") {
		t.Errorf("replaced by what it was: %v", got[0])
	}
	theirs := r.attach(t, map[string]string{"a.png": "three"}, first.ID)
	ours, other := r.attach(t, nil, second.ID, theirs.ID), r.attach(t, nil, theirs.ID, second.ID)
	if a, b := r.files(t, ours.ID), r.files(t, other.ID); !slices.Equal(a, b) || len(a) != 2 || a[0] != is("a.png", "two") && a[0] != is("a.png", "three") {
		t.Errorf("merged: files %v and %v", a, b)
	}
	settled := r.attach(t, map[string]string{"a.png": "four"}, ours.ID)
	if got := r.files(t, settled.ID); len(got) != 2 || got[0] != is("a.png", "four") {
		t.Errorf("settled: files %v", got)
	}
	if got := r.files(t, r.commit(t, commitOf(conversation(1, nil))).ID); len(got) != 0 {
		t.Errorf("without attachments: files %v", got)
	}
	for _, id := range []string{"main", strings.Repeat("1", 40)} {
		if files, err := r.reader.Files(ctx, id); err == nil {
			t.Errorf("files of %s: %v", id, files)
		}
	}
}

// TestForgedRecords checks that an attached text that looks like the record of a file does no harm.
func TestForgedRecords(t *testing.T) {
	r := newRepository(t)
	record := func(path, content string) string {
		return string(codec.FileRecord{Path: path, Content: content}.Encode())
	}
	id := r.attach(t, map[string]string{
		"record.txt": record("elsewhere.png", digestOf("absent")),
		"broken.txt": codec.FileRecordHead + "broken\n",
		"long.txt":   codec.FileRecordHead + strings.Repeat("x", codec.MaxFileRecord),
	}).ID
	var paths []string
	for _, f := range r.files(t, id) {
		paths = append(paths, f.Path)
	}
	if want := []string{"broken.txt", "long.txt", "record.txt"}; !slices.Equal(paths, want) {
		t.Errorf("files %q, want %q", paths, want)
	}
}

func TestAttachedFilesRefused(t *testing.T) {
	r := newRepository(t)
	sum := digestOf("x")
	for name, files := range map[string][]domarkx.AttachedFile{
		"a path that leads outside": {{Path: "../x", SHA256: sum}},
		"an absolute path":          {{Path: "/etc/passwd", SHA256: sum}},
		"no path":                   {{Path: "", SHA256: sum}},
		"a path twice":              {{Path: "x", SHA256: sum}, {Path: "x", SHA256: digestOf("y")}},
		"no digest":                 {{Path: "x", SHA256: "main"}},
	} {
		t.Run(name, func(t *testing.T) {
			r.update(t, func(b *snapshot.Builder) error {
				c := commitOf(conversation(1, nil))
				c.Files = files
				if info, err := b.Commit(ctx, c); !errors.Is(err, domarkx.ErrInvalid) {
					t.Errorf("snapshot %s, %v", info.ID, err)
				}
				return nil
			})
		})
	}
}

func TestAttachment(t *testing.T) {
	r := newRepository(t)
	id := r.attach(t, map[string]string{"a": "one", "empty": ""}).ID
	for _, text := range []string{"one", ""} {
		content, err := r.reader.Attachment(ctx, id, digestOf(text))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(io.NewSectionReader(content, 0, content.Size()+1))
		if string(data) != text || err != nil || content.Size() != int64(len(text)) {
			t.Errorf("%q of %d bytes, %v; want %q", data, content.Size(), err, text)
		}
		if err := content.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, digest := range []string{digestOf("absent"), "", "../x"} {
		if content, err := r.reader.Attachment(ctx, id, digest); err == nil {
			content.Close()
			t.Errorf("attachment %q was found", digest)
		}
	}
	plain := r.commit(t, commitOf(conversation(1, nil))).ID
	if _, err := r.reader.Attachment(ctx, plain, digestOf("one")); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("of a snapshot without attachments: %v", err)
	}
	content, err := r.reader.Attachment(ctx, id, digestOf("one"))
	if err != nil {
		t.Fatalf("after a snapshot without attachments: %v", err)
	}
	content.Close()
	one, err := r.reader.AttachmentsID(ctx, id)
	if err != nil || one == "" {
		t.Errorf("directory %q, %v", one, err)
	}
	if none, err := r.reader.AttachmentsID(ctx, plain); err != nil || none != "" {
		t.Errorf("directory of none %q, %v", none, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	r.update(t, func(b *snapshot.Builder) error {
		if _, _, err := b.StoreAttachment(ended, strings.NewReader("late")); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
		return nil
	})
}

// TestIncludes checks that included files come back, and that their paths stay in their folder.
func TestIncludes(t *testing.T) {
	r := newRepository(t)
	files := []domarkx.Include{{Path: "a.md", Data: []byte("one")}, {Path: "dir/b.md", Data: nil}, {Path: "weird %2F name.md", Data: []byte("two")}}
	var tree string
	r.update(t, func(b *snapshot.Builder) (err error) {
		tree, err = b.StoreIncludes(ctx, files)
		return err
	})
	got, err := r.reader.Includes(ctx, tree)
	if err != nil || len(got) != len(files) {
		t.Fatalf("%v, %v", got, err)
	}
	for i, f := range got {
		if f.Path != files[i].Path || string(f.Data) != string(files[i].Data) {
			t.Errorf("file %d: %q with %q", i, f.Path, f.Data)
		}
	}
	r.update(t, func(b *snapshot.Builder) error {
		if none, err := b.StoreIncludes(ctx, nil); err != nil || none != "" {
			t.Errorf("no files: %q, %v", none, err)
		}
		for _, paths := range [][]string{{"../a.md"}, {"/a.md"}, {""}, {"a.md", "a.md"}} {
			var files []domarkx.Include
			for _, p := range paths {
				files = append(files, domarkx.Include{Path: p, Data: []byte("x")})
			}
			if id, err := b.StoreIncludes(ctx, files); err == nil {
				t.Errorf("files %q were stored as %s", paths, id)
			}
		}
		return nil
	})
	for _, id := range []string{"main", strings.Repeat("1", 40)} {
		if files, err := r.reader.Includes(ctx, id); err == nil {
			t.Errorf("files in %s: %v", id, files)
		}
	}
}
