//go:build unix

package sessions_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/sessions"
)

// An album keeps the attachments of snapshots in memory, as sessions' attachments and their attacher.
type album struct {
	m    *machine
	mu   sync.Mutex
	kept map[string]map[string]string // contents by snapshot and path
	fail error                        // of reading
}

// newAlbum gives a machine attachments.
func newAlbum(m *machine) *album {
	a := &album{m: m, kept: map[string]map[string]string{}}
	m.with = func(c *sessions.Config) { c.Attachments, c.Attacher = a, a }
	m.crash()
	return a
}

// put creates a snapshot of a session that has attached files, by path.
func (a *album) put(session, text string, files map[string]string) {
	a.m.Helper()
	info, err := a.m.store.Write(context.Background(), session, text)
	if err != nil {
		a.m.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept[info.ID] = files
}

func sumOf(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

func (a *album) Files(_ context.Context, snapshot string) ([]domarkx.AttachedFile, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var files []domarkx.AttachedFile
	for _, p := range slices.Sorted(maps.Keys(a.kept[snapshot])) {
		data := a.kept[snapshot][p]
		files = append(files, domarkx.AttachedFile{Path: p, SHA256: sumOf(data), Size: int64(len(data))})
	}
	return files, a.fail
}

func (a *album) Attachment(_ context.Context, snapshot, sum string) (domarkx.Content, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, data := range a.kept[snapshot] {
		if sumOf(data) == sum && a.fail == nil {
			return attachment{strings.NewReader(data)}, nil
		}
	}
	return nil, errors.Join(domarkx.ErrNotFound, a.fail)
}

type attachment struct{ *strings.Reader }

func (attachment) Close() error { return nil }

func (a *album) IsImage(data []byte) bool { return bytes.HasPrefix(data, []byte("PNG")) }

// Shown returns the words of a snapshot that end in .png.
func (a *album) Shown(ctx context.Context, snapshot string) ([]string, error) {
	text, err := a.m.store.Markdown(ctx, snapshot)
	var shown []string
	for _, word := range strings.Fields(string(text)) {
		if strings.HasSuffix(word, ".png") {
			shown = append(shown, word)
		}
	}
	return shown, err
}

func (a *album) Attach(ctx context.Context, session, path string, data []byte) (before, after domarkx.Info, err error) {
	if before, err = a.m.store.Info(ctx, session); err != nil {
		return before, after, err
	}
	text, err := a.m.store.Markdown(ctx, before.ID)
	if err != nil {
		return before, after, err
	}
	for _, text := range []string{string(text) + "!", string(text)} { // the store makes no snapshot of the same text
		if after, err = a.m.store.Write(ctx, session, text); err != nil {
			return before, after, err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept[after.ID] = maps.Clone(a.kept[before.ID])
	if a.kept[after.ID] == nil {
		a.kept[after.ID] = map[string]string{}
	}
	a.kept[after.ID][path] = string(data)
	return before, after, nil
}

// attached returns the attached files of a session.
func (a *album) attached(session string) string {
	a.m.Helper()
	files, err := a.Files(context.Background(), a.m.tip(session))
	if err != nil {
		a.m.Error(err)
	}
	var all []string
	for _, f := range files {
		all = append(all, f.Path)
	}
	return strings.Join(all, " ")
}

func TestAttachedFilesAreShown(t *testing.T) {
	timed(t, func(m *machine) {
		a := newAlbum(m)
		a.put("s", "text", map[string]string{"img/a.png": "PNG a", "notes.txt": "notes"})
		a.put("d/t", "text", map[string]string{"b.png": "PNG b", "img/a.png": "PNG of d"})
		want := "d/(b.png=PNG b img/(a.png=PNG of d) t.md=text) img/(a.png=PNG a) notes.txt=notes s.md=text"
		for range 2 { // files stay the same while the sessions do
			if got := m.list(m.tree.Root()); got != want {
				t.Errorf("the tree is %s, expected %s", got, want)
			}
		}
		f, _, err := m.tree.Lookup(context.Background(), m.tree.Root(), "notes.txt")
		if err != nil {
			t.Fatal(err)
		}
		if at := m.tree.Attr(f); at.Size != 5 || at.Mode != 0o644 || at.Links != 1 {
			t.Errorf("%+v", at)
		}
		time.Sleep(time.Second)
		a.put("z", "text", map[string]string{"notes.txt": "newer"})
		if got := m.read("notes.txt"); got != "newer" {
			t.Errorf("of two sessions with the path, the older one shows: %q", got)
		}
		if got := m.tree.Drafts(); len(got) > 0 {
			t.Errorf("drafts %q", got)
		}
	})
}

// TestAttachedFilesStay makes calls on a tree with attached files, and checks which are refused.
func TestAttachedFilesStay(t *testing.T) {
	for line, want := range map[string]error{
		"unlink a.png":         syscall.EPERM,
		"unlink img/b.png":     syscall.EPERM,
		"rmdir img":            syscall.ENOTEMPTY,
		"rename a.png c.png":   syscall.EPERM,
		"rename img other":     syscall.EPERM,
		"link a.png c.png":     syscall.EPERM,
		"link a.png c.md":      syscall.EPERM,
		"symlink a.png x":      domarkx.ErrExists,
		"mkdir a.png":          domarkx.ErrExists,
		"mkdir img":            domarkx.ErrExists,
		"mknod a.png":          domarkx.ErrExists,
		"unlink img/none.png":  domarkx.ErrNotFound,
		"exchange a.png img/x": syscall.EPERM,
		"mkdir img/new":        nil,
		"save img/own.txt own": nil,
		"rename d e":           nil, // its own session keeps what is in it
	} {
		t.Run(line, func(t *testing.T) {
			timed(t, func(m *machine) {
				a := newAlbum(m)
				a.put("s", "text", map[string]string{"a.png": "PNG a", "img/b.png": "PNG b"})
				a.put("d/t", "text", map[string]string{"c.png": "PNG c"})
				m.must("save img/x 1")
				before := m.list(m.tree.Root())
				if err := m.call(line); !errors.Is(err, want) {
					t.Errorf("%v, expected %v", err, want)
				}
				if after := m.list(m.tree.Root()); (after == before) != (want != nil) {
					t.Errorf("the tree is %s, was %s", after, before)
				}
			})
		})
	}
}

func TestAttachedFileIsChanged(t *testing.T) {
	timed(t, func(m *machine) {
		a := newAlbum(m)
		a.put("s", "text", map[string]string{"notes.txt": "notes"})
		f, h, err := m.tree.Create(context.Background(), m.tree.Root(), "notes.txt", 0o644, false, sessions.Mode{Read: true, Write: true}, editor)
		if err != nil {
			t.Fatal(err)
		}
		m.write(f, h, "N", 0)
		m.close(h)
		if got := m.read("notes.txt"); got != "Notes" {
			t.Errorf("it has %q", got)
		}
		if got := m.tree.Drafts(); !slices.Equal(got, []string{"notes.txt"}) {
			t.Errorf("drafts %q", got)
		}
		m.crash()
		if got := m.read("notes.txt"); got != "Notes" {
			t.Errorf("after a power cut it has %q", got)
		}
		a.put("s", "other", map[string]string{"notes.txt": "notes"}) // the own file still counts
		if got := m.read("notes.txt"); got != "Notes" {
			t.Errorf("after another snapshot it has %q", got)
		}
		m.unlink("notes.txt")
		if got := m.read("notes.txt"); got != "notes" {
			t.Errorf("after the removal of the own file it has %q", got)
		}
	})
}

func TestAttachmentCannotBeRead(t *testing.T) {
	timed(t, func(m *machine) {
		a := newAlbum(m)
		a.put("s", "text", map[string]string{"a.png": "PNG a", "b.png": "PNG b"})
		f, _, err := m.tree.Lookup(context.Background(), m.tree.Root(), "a.png")
		if err != nil {
			t.Fatal(err)
		}
		a.fail = syscall.EIO
		if _, err := m.tree.Read(context.Background(), f, make([]byte, 9), 0); !errors.Is(err, syscall.EIO) {
			t.Errorf("reading: %v", err)
		}
		if err := m.tree.Write(context.Background(), f, nil, []byte("x"), 0, editor); !errors.Is(err, syscall.EIO) {
			t.Errorf("writing: %v", err)
		}
		a.fail = nil
		if got := m.read("a.png"); got != "PNG a" {
			t.Errorf("afterwards it has %q", got)
		}
		a.put("u", "text", map[string]string{"u.png": "PNG u"})
		a.fail = syscall.EIO
		if got := m.read("s.md"); got != "text" { // a session shows although attachments cannot be listed
			t.Errorf("s.md has %q", got)
		}
		a.fail = nil
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := m.tree.List(ended, m.tree.Root()); !errors.Is(err, context.Canceled) {
			t.Errorf("listing after the end of the context: %v", err)
		}
	})
}

// TestShownImagesAreAttached pastes images beside sessions, and checks which of them the sessions attach.
func TestShownImagesAreAttached(t *testing.T) {
	for name, c := range map[string]struct {
		calls string
		want  map[string]string // attached files by session
		left  string            // drafts
	}{
		"the image first":        {"save a.png PNGa; save s.md a.png", map[string]string{"s": "a.png"}, ""},
		"the session first":      {"save s.md a.png; save a.png PNGa", map[string]string{"s": "a.png"}, ""},
		"in a directory":         {"mkdir d; save d/a.png PNGa; save d/s.md a.png; save s.md a.png", map[string]string{"d/s": "a.png", "s": ""}, ""},
		"below the session":      {"mkdir img; save img/a.png PNGa; save s.md img/a.png", map[string]string{"s": "img/a.png"}, ""},
		"not shown":              {"save a.png PNGa; save s.md text", map[string]string{"s": ""}, "a.png"},
		"no image":               {"save a.png text; save s.md a.png", map[string]string{"s": ""}, "a.png"},
		"scratch":                {"save .a.png PNGa; save s.md .a.png", map[string]string{"s": ""}, ""},
		"of two sessions":        {"save a.png PNGa; save s.md a.png; save t.md a.png", nil, ""}, // settled at one moment, either gets it
		"replaced by a rename":   {"save tmp PNGa; rename tmp a.png; save s.md a.png", map[string]string{"s": "a.png"}, ""},
		"shown by a broken save": {"save a.png PNGa; save s.md BROKEN", map[string]string{}, "a.png"},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(m *machine) {
				a := newAlbum(m)
				m.must(strings.Split(c.calls, "; ")...)
				time.Sleep(5 * time.Second)
				for session, want := range c.want {
					if got := a.attached(session); got != want {
						t.Errorf("%s has %q, expected %q", session, got, want)
					}
				}
				if name == "of two sessions" && a.attached("s") != "a.png" && a.attached("t") != "a.png" {
					t.Error("neither session has the image")
				}
				if got := strings.Join(m.tree.Drafts(), " "); got != c.left {
					t.Errorf("drafts %q, expected %q", got, c.left)
				}
				before := m.list(m.tree.Root())
				m.crash()
				if after := m.list(m.tree.Root()); name != "scratch" && after != before {
					t.Errorf("after a power cut the tree is %s, was %s", after, before)
				}
			})
		})
	}
}

// TestAttachingKeepsWhatIsOpen checks that a program with the session's file open saves on, on the snapshot with the image.
func TestAttachingKeepsWhatIsOpen(t *testing.T) {
	timed(t, func(m *machine) {
		a := newAlbum(m)
		m.save("s.md", "a.png")
		m.at(time.Second, "s", "a.png")
		f, _, err := m.tree.Lookup(context.Background(), m.tree.Root(), "s.md")
		if err != nil {
			t.Fatal(err)
		}
		h, err := m.tree.Open(context.Background(), f, sessions.Mode{Read: true}, editor)
		if err != nil {
			t.Fatal(err)
		}
		m.save("a.png", "PNGa")
		time.Sleep(time.Second)
		if got := a.attached("s"); got != "a.png" {
			t.Fatalf("s has %q", got)
		}
		if again, _, err := m.tree.Lookup(context.Background(), m.tree.Root(), "s.md"); err != nil || m.tree.Attr(again).Ino != m.tree.Attr(f).Ino {
			t.Errorf("the session's file was replaced: inode %d, was %d, %v", m.tree.Attr(again).Ino, m.tree.Attr(f).Ino, err)
		}
		if err := m.tree.Release(h, editor); err != nil {
			t.Error(err)
		}
		m.save("s.md", "a.png b")
		m.at(time.Second, "s", "a.png|a.png!|a.png|a.png b")
		if names := m.tree.SessionsWithErrors(); len(names) > 0 {
			t.Errorf("errors of %q: %s", names, m.errorsOf("s"))
		}
	})
}

// TestManyAttachments checks that one list of a directory asks for the files of each snapshot once.
func TestManyAttachments(t *testing.T) {
	timed(t, func(m *machine) {
		a := newAlbum(m)
		for i := range 20 {
			a.put(fmt.Sprintf("d%d/s", i), "text", map[string]string{"x.png": fmt.Sprint("PNG", i)})
		}
		if got := m.list(m.tree.Root()); strings.Count(got, "x.png=PNG") != 20 {
			t.Errorf("the tree is %s", got)
		}
		a.fail = syscall.EIO // nothing is asked again
		d, name := m.place("d7/x.png")
		if f, _, err := m.tree.Lookup(context.Background(), d, name); err != nil || m.tree.Attr(f).Size != 4 {
			t.Errorf("%v", err)
		}
		if entries, err := m.tree.List(context.Background(), d); err != nil || len(entries) != 2 {
			t.Errorf("%v, %v", entries, err)
		}
	})
}
