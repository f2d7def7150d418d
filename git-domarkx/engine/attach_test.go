package engine_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// attached attaches a file to the session "s".
func attached(c *clone, path, content string) (before, after domarkx.Info) {
	c.T.Helper()
	before, after, err := c.Attach(c.T.Context(), "s", path, strings.NewReader(content))
	if err != nil {
		c.T.Fatal(err)
	}
	return before, after
}

func TestAttach(t *testing.T) {
	c := newClone(t)
	c.Appended("s", "Hello.")
	shown := c.Shown("s")
	before, after := attached(c, "dir/a.txt", "one")
	if after.ID == before.ID || after.Name != "s" || after.Operation != "attach" || c.Tip("s").ID != after.ID {
		t.Errorf("%+v, then %+v", before, after)
	}
	if again, same := attached(c, "dir/a.txt", "one"); again.ID != after.ID || same.ID != after.ID {
		t.Errorf("attached again: %+v, %+v", again, same)
	}
	attached(c, "dir/b.txt", "one")
	_, last := attached(c, "dir/a.txt", "two")
	files, err := c.Store.Files(t.Context(), last.ID)
	if err != nil || len(files) != 2 || files[0].Path != "dir/a.txt" || files[1].Path != "dir/b.txt" || files[0].SHA256 == files[1].SHA256 {
		t.Errorf("%+v, %v", files, err)
	}
	var b bytes.Buffer
	if err := c.WriteAttachment(t.Context(), at(t, "s"), files[0].SHA256, &b); err != nil || b.String() != "two" {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := c.WriteAttachment(t.Context(), at(t, "s~9"), files[0].SHA256, &b); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("of a snapshot that does not exist: %v", err)
	}
	if _, err := c.Attachment(t.Context(), last.ID, strings.Repeat("0", 64)); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("an attachment that does not exist: %v", err)
	}
	if got := c.Shown("s"); got != shown {
		t.Errorf("the text became %q", got)
	}
	c.Fsck()
}

// TestAttachRefuses checks that a refused file changes nothing.
func TestAttachRefuses(t *testing.T) {
	c := newClone(t)
	tip := c.Appended("s", "Hello.")
	broken := errors.New("cable pulled")
	large := strings.Repeat("x", engine.MaxFileSize)
	tests := []struct {
		name, session, path string
		content             io.Reader
		want                error
	}{
		{"an absolute path", "s", "/etc/passwd", strings.NewReader(""), domarkx.ErrInvalid},
		{"a path to the outside", "s", "../x", strings.NewReader(""), domarkx.ErrInvalid},
		{"no path", "s", "", strings.NewReader(""), domarkx.ErrInvalid},
		{"a path with NUL", "s", "a\x00b", strings.NewReader(""), domarkx.ErrInvalid},
		{"an unclean path", "s", "a//b", strings.NewReader(""), domarkx.ErrInvalid},
		{"too large", "s", "x", strings.NewReader(large + "x"), domarkx.ErrInvalid},
		{"unreadable", "s", "x", iotest.ErrReader(broken), broken},
		{"no session", "t", "x", strings.NewReader(""), domarkx.ErrNotFound},
	}
	for _, tt := range tests {
		if _, _, err := c.Attach(t.Context(), tt.session, tt.path, tt.content); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if now := c.Tip("s"); now.ID != tip.ID {
		t.Errorf("a snapshot was created: %+v", now)
	}
	attached(c, "limit", large)
}

// TestAttachAtOnce attaches files from several processes. All are kept.
func TestAttachAtOnce(t *testing.T) {
	c := newClone(t)
	c.Appended("s", "Hello.")
	var group sync.WaitGroup
	paths := []string{"a", "b", "c", "d"}
	for _, path := range paths {
		other := openClone(t, c.Dir, c.Settings)
		group.Go(func() {
			if _, _, err := other.Attach(t.Context(), "s", path, strings.NewReader(path)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	other := openClone(t, c.Dir, c.Settings)
	files, err := other.Store.Files(t.Context(), other.Tip("s").ID)
	var got []string
	for _, f := range files {
		got = append(got, f.Path)
	}
	if err != nil || !slices.Equal(got, paths) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestEditMeanwhile saves a text that was opened before files were attached. Nothing is merged, and no conflict arises.
func TestEditMeanwhile(t *testing.T) {
	c := newClone(t)
	base := c.Appended("s", "Hello.")
	attached(c, "a", "one")
	attached(c, "b", "two")
	saved := c.Saved("s", base.ID, "## user\n\nHello, you.\n")
	if saved.Merged || !saved.Changed {
		t.Errorf("%+v", saved)
	}
	if files, err := c.Store.Files(t.Context(), saved.ID); err != nil || len(files) != 2 {
		t.Errorf("the files are lost: %+v, %v", files, err)
	}
	// After another edit it is one.
	attached(c, "c", "three")
	if other := c.Saved("s", base.ID, "## user\n\nHello, all.\n"); !other.Merged {
		t.Errorf("%+v", other)
	}
	c.Fsck()
}

// TestAttachToAnImport attaches a file to a session whose document brought a snapshot_id, which the new snapshot must
// not have.
func TestAttachToAnImport(t *testing.T) {
	for _, document := range []string{withOwn, "```json domarkx-snapshot\n{\"snapshot_id\": \"x\"}\n```\n\n## user\n\none\n"} {
		c := newClone(t)
		c.ImportFile(c.WriteFile("s.md", document))
		attached(c, "a", "one")
		if got := c.ShownIn("s", "json"); strings.Contains(got, `"snapshot_id": "x"`) {
			t.Errorf("it has the id of the import: %s", got)
		}
		c.Shown("s") // which checks the recorded size
		c.Fsck()
	}
}

func TestImagesShown(t *testing.T) {
	c := newClone(t)
	tip := c.Saved("s", "", "## user\n\n![a](images/a.png) ![again](images/a.png)\n![web](https://example.org/b.png) ![inline](data:image/png;base64,AA==)\n"+
		"![up](../c.png) ![root](/d.png)\n\n```\n![code](e.png)\n```\n\n![space](f%20g.png)\n")
	got, err := c.ImagesShown(t.Context(), tip.ID)
	if want := []string{"images/a.png", "f g.png"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := c.ImagesShown(t.Context(), strings.Repeat("0", 40)); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestIsImage(t *testing.T) {
	for head, want := range map[string]bool{
		"\x89PNG\r\n\x1a\n": true, "\x89PNG\n\x1a\n": false, "\xff\xd8\xff\xe0": true, "GIF87a": true, "GIF89a,": true, "GIF88a": false,
		"RIFF\x00\x00\x00\x00WEBP": true, "RIFF\x00\x00\x00\x00WAVE": false, "RIFF\x00\x00\x00\x00WEB": false,
		"\x00\x00\x00\x20ftypavif": true, "\x00\x00\x00\x20ftypavis": true, "\x00\x00\x00\x20ftypisom": false,
		"<svg xmlns=\"http://www.w3.org/2000/svg\">": false, "": false, "%PDF-1.7 and more": false,
	} {
		if got := engine.IsImage([]byte(head)); got != want {
			t.Errorf("%q: %t", head, got)
		}
	}
}
