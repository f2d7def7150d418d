//go:build unix

package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/sessions"
)

// place returns the directory of a path and its last name.
func (m *machine) place(p string) (*sessions.Directory, string) {
	m.Helper()
	d := m.tree.Root()
	names := strings.Split(p, "/")
	for _, name := range names[:len(names)-1] {
		_, sub, err := m.tree.Lookup(context.Background(), d, name)
		if err != nil || sub == nil {
			m.Fatalf("%s of %s: %v", name, p, err)
		}
		d = sub
	}
	return d, names[len(names)-1]
}

// call makes a system call: a word and paths, as "rename a b".
func (m *machine) call(line string) error {
	m.Helper()
	ctx, words := context.Background(), strings.Fields(line)
	d, name := m.place(words[1])
	switch words[0] {
	case "mkdir":
		_, err := m.tree.Mkdir(ctx, d, name, 0o750)
		return err
	case "rmdir":
		return m.tree.Rmdir(ctx, d, name)
	case "unlink":
		return m.tree.Unlink(ctx, d, name)
	case "mknod":
		_, err := m.tree.Make(ctx, d, name, 0o600, editor)
		return err
	case "symlink":
		_, err := m.tree.Symlink(ctx, d, name, words[2])
		return err
	case "save":
		_, h, err := m.tree.Create(ctx, d, name, 0o644, false, sessions.Mode{Write: true, Truncate: true}, editor)
		if err != nil {
			return err
		}
		f, _, err := m.tree.Lookup(ctx, d, name)
		if err != nil {
			return err
		}
		return errors.Join(m.tree.Write(ctx, f, h, []byte(words[2]), 0, editor), m.tree.Flush(h, editor), m.tree.Release(h, editor))
	case "link":
		f, _, err := m.tree.Lookup(ctx, d, name)
		if err != nil {
			return err
		}
		to, newName := m.place(words[2])
		return m.tree.Link(ctx, f, to, newName, editor)
	}
	how, ok := map[string]sessions.Replacing{"rename": sessions.Replace, "noreplace": sessions.NoReplace, "exchange": sessions.Exchange}[words[0]]
	if !ok {
		m.Fatalf("no call %q", line)
	}
	to, newName := m.place(words[2])
	return m.tree.Rename(ctx, d, name, to, newName, how, editor)
}

// must makes calls that must succeed.
func (m *machine) must(lines ...string) {
	m.Helper()
	for _, line := range lines {
		if err := m.call(line); err != nil {
			m.Fatalf("%s: %v", line, err)
		}
	}
}

// list returns the tree below a directory: names, "/" after directories, "@" after links, contents after "=".
func (m *machine) list(d *sessions.Directory) string {
	m.Helper()
	entries, err := m.tree.List(context.Background(), d)
	if err != nil {
		m.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		f, sub, err := m.tree.Lookup(context.Background(), d, e.Name)
		if err != nil || (sub != nil) != (e.Kind == syscall.S_IFDIR) {
			m.Fatalf("%s: %v, a directory: %v", e.Name, err, e.Kind == syscall.S_IFDIR)
		}
		switch {
		case e.Kind == syscall.S_IFDIR:
			if at := m.tree.DirectoryAttr(sub); at.Ino != e.Ino || at.Links != 2 {
				m.Errorf("%s/ is listed as inode %d and has %+v", e.Name, e.Ino, at)
			}
			all = append(all, e.Name+"/("+m.list(sub)+")")
		case e.Kind == syscall.S_IFLNK:
			all = append(all, e.Name+"@"+f.Target())
		default:
			if at := m.tree.Attr(f); at.Ino != e.Ino {
				m.Errorf("%s is listed as inode %d and has %d", e.Name, e.Ino, at.Ino)
			}
			h, err := m.tree.Open(context.Background(), f, sessions.Mode{Read: true}, editor)
			if err != nil {
				m.Fatalf("%s: %v", e.Name, err)
			}
			data := make([]byte, 100)
			n, err := m.tree.Read(context.Background(), f, data, 0)
			if err = errors.Join(err, m.tree.Release(h, editor)); err != nil {
				m.Errorf("%s: %v", e.Name, err)
			}
			all = append(all, e.Name+"="+string(data[:n]))
		}
	}
	return strings.Join(all, " ")
}

// TestCalls makes calls on a tree with a stored session in a directory, and checks the error of the last call and
// the tree after it.
func TestCalls(t *testing.T) {
	for _, c := range []struct {
		calls string // the last one fails with err
		err   error
		want  string // "" for the tree before
	}{
		{calls: "mkdir e", want: "d/(s.md=1) e/()"},
		{"mkdir d", domarkx.ErrExists, ""},
		{"mkdir e; mkdir e", domarkx.ErrExists, "d/(s.md=1) e/()"},
		{"mkdir x.md", domarkx.ErrInvalid, ""},
		{"mkdir " + strings.Repeat("x", 256), syscall.ENAMETOOLONG, ""},
		{"mkdir d/e; rmdir d", syscall.ENOTEMPTY, "d/(e/() s.md=1)"},
		{"rmdir d", syscall.ENOTEMPTY, ""},
		{"rmdir none", domarkx.ErrNotFound, ""},
		{"rmdir d/s.md", syscall.ENOTDIR, ""},
		{calls: "mkdir e; rmdir e; mkdir e", want: "d/(s.md=1) e/()"},
		{calls: "unlink d/s.md; rmdir d", want: " "},
		{calls: "mkdir e; save e/x 2; save e/t.md 3", want: "d/(s.md=1) e/(t.md=3 x=2)"},
		{"mkdir e; save e/x 2; rmdir e", syscall.ENOTEMPTY, "d/(s.md=1) e/(x=2)"},
		{"save d 1", syscall.EISDIR, ""},
		{"save D.md 1", nil, "D.md=1 d/(s.md=1)"},
		{"save d.md 1", domarkx.ErrExists, ""},
		{"save d/S.md 1", domarkx.ErrExists, ""},
		{"save t.md 1; mkdir t; save t/u.md 1", domarkx.ErrExists, "d/(s.md=1) t/() t.md=1"},
		{"save a?b.md 1", domarkx.ErrInvalid, ""},

		{calls: "mknod x", want: "d/(s.md=1) x="},
		{"mknod x; mknod x", domarkx.ErrExists, "d/(s.md=1) x="},
		{"mknod d/s.md", domarkx.ErrExists, ""},
		{"mknod d", syscall.EISDIR, ""},
		{calls: "symlink l d/s.md", want: "d/(s.md=1) l@d/s.md"},
		{"symlink l x; symlink l y", domarkx.ErrExists, "d/(s.md=1) l@x"},
		{"symlink l.md d/s.md", syscall.EPERM, ""},
		{"symlink d x", domarkx.ErrExists, ""},
		{"symlink l x; rename l l.md", syscall.EPERM, "d/(s.md=1) l@x"},
		{calls: "symlink l x; rename l m", want: "d/(s.md=1) m@x"},
		{calls: "symlink l x; unlink l", want: "d/(s.md=1)"},
		{"unlink none", domarkx.ErrNotFound, ""},
		{"unlink none.md", domarkx.ErrNotFound, ""},

		{calls: "save x 2; link x y", want: "d/(s.md=1) x=2 y=2"},
		{calls: "save x 2; link x y; save y 3", want: "d/(s.md=1) x=3 y=3"},
		{calls: "save x 2; link x y; unlink x", want: "d/(s.md=1) y=2"},
		{calls: "save x 2; link x t.md", want: "d/(s.md=1) t.md=2 x=2"},
		{calls: "save x 2; link x y; rename x y", want: "d/(s.md=1) x=2 y=2"}, // POSIX
		{calls: "link d/s.md y", want: "d/(s.md=1) y=1"},
		{"link d/s.md t.md", syscall.EPERM, ""},
		{"symlink l x; link l t.md", syscall.EPERM, "d/(s.md=1) l@x"},
		{"save x 2; link x d", domarkx.ErrExists, "d/(s.md=1) x=2"},
		{"save x 2; link x d/s.md", domarkx.ErrExists, "d/(s.md=1) x=2"},
		{"save x 2; save y 3; link x y", domarkx.ErrExists, "d/(s.md=1) x=2 y=3"},

		{calls: "save x 2; save y 3; exchange x y", want: "d/(s.md=1) x=3 y=2"},
		{"save x 2; exchange x y", domarkx.ErrNotFound, "d/(s.md=1) x=2"},
		{"save x 2; exchange x d/s.md", syscall.EINVAL, "d/(s.md=1) x=2"},
		{"save x 2; save y 3; noreplace x y", domarkx.ErrExists, "d/(s.md=1) x=2 y=3"},
		{calls: "save x 2; noreplace x y", want: "d/(s.md=1) y=2"},
		{"noreplace d d", domarkx.ErrExists, ""},

		{calls: "rename d/s.md d/t.md", want: "d/(t.md=1)"},
		{calls: "rename d/s.md d/s.md", want: "d/(s.md=1)"},
		{calls: "rename d/s.md t.md", want: "d/() t.md=1"},
		{calls: "rename d/s.md d/s.md~", want: "d/(s.md~=1)"},
		{calls: "rename d/s.md x; rename x d/s.md", want: "d/(s.md=1)"},
		{calls: "save x 2; rename d/s.md x", want: "d/() x=1"},
		{calls: "save x 2; rename x d/s.md", want: "d/(s.md=2)"},
		{calls: "save t.md 2; rename t.md d/s.md", want: "d/(s.md=2)"},
		{calls: "save t.md 2; rename d/s.md t.md", want: "d/() t.md=1"},
		{"rename none x", domarkx.ErrNotFound, ""},
		{"save x 2; rename x d", syscall.EISDIR, "d/(s.md=1) x=2"},
		{"save x 2; rename d x", syscall.ENOTDIR, "d/(s.md=1) x=2"},
		{"save x 2; rename x d.md", domarkx.ErrExists, "d/(s.md=1) x=2"},

		{calls: "rename d e", want: "e/(s.md=1)"},
		{calls: "rename d d", want: "d/(s.md=1)"},
		{"rename d d/e", syscall.EINVAL, ""},
		{"rename d e.md", domarkx.ErrInvalid, ""},
		{"rename d .hidden", syscall.EXDEV, ""},
		{calls: "mkdir e; rename d e", want: "e/(s.md=1)"},
		{"mkdir e; save e/x 2; rename d e", syscall.ENOTEMPTY, "d/(s.md=1) e/(x=2)"},
		{calls: "mkdir d/sub; save d/sub/x 2; save d/sub/t.md 3; symlink d/l x; rename d e", want: "e/(l@x s.md=1 sub/(t.md=3 x=2))"},
		{calls: "mkdir .h; save .h/x 2; rename .h e", want: "d/(s.md=1) e/(x=2)"},
		{"mkdir .h; save .h/x.md 2; rename .h e", syscall.EXDEV, ".h/(x.md=2) d/(s.md=1)"},
		{calls: "mkdir e; rename e f; mkdir e", want: "d/(s.md=1) e/() f/()"},
		{calls: "mkdir e; mkdir e/f; rename e g; rmdir g/f; rmdir g", want: "d/(s.md=1)"},
	} {
		t.Run(c.calls, func(t *testing.T) {
			m := newMachine(t, t.TempDir())
			defer m.shutDown()
			if _, err := m.store.Write(context.Background(), "d/s", "1"); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(c.calls, "; ")
			m.must(lines[:len(lines)-1]...)
			if err := m.call(lines[len(lines)-1]); !errors.Is(err, c.err) {
				t.Errorf("%v, expected %v", err, c.err)
			}
			want := strings.TrimSpace(c.want)
			if c.want == "" {
				want = "d/(s.md=1)"
			}
			if got := m.list(m.tree.Root()); got != want {
				t.Errorf("the tree is %s, expected %s", got, want)
			}
		})
	}
}

// TestRemovedDirectory checks calls in a directory that a program still uses after its removal.
func TestRemovedDirectory(t *testing.T) {
	m := newMachine(t, t.TempDir())
	defer m.shutDown()
	ctx := context.Background()
	d, err := m.tree.Mkdir(ctx, m.tree.Root(), "d", 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if at := m.tree.DirectoryAttr(d); at.Mode != 0o700 || at.Links != 2 {
		t.Errorf("%+v", at)
	}
	m.must("rmdir d")
	if at := m.tree.DirectoryAttr(d); at.Links != 0 {
		t.Errorf("after its removal: %+v", at)
	}
	if entries, err := m.tree.List(ctx, d); len(entries) > 0 || err != nil {
		t.Errorf("listing: %v, %v", entries, err)
	}
	_, _, lookup := m.tree.Lookup(ctx, d, "x")
	_, mkdir := m.tree.Mkdir(ctx, d, "x", 0o755)
	_, make := m.tree.Make(ctx, d, "x", 0o644, editor)
	_, symlink := m.tree.Symlink(ctx, d, "x", "y")
	for call, err := range map[string]error{"lookup": lookup, "mkdir": mkdir, "mknod": make, "symlink": symlink, "unlink": m.tree.Unlink(ctx, d, "x"), "rmdir": m.tree.Rmdir(ctx, d, "x")} {
		if !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestAttributes(t *testing.T) {
	m := newMachine(t, t.TempDir())
	defer m.shutDown()
	ctx, at := context.Background(), time.Unix(1_000_000_000, 5)
	mode, uid, gid := uint32(0o640), uint32(7), uint32(8)
	change := func(a *sessions.Attributes) { a.Mode, a.UID, a.GID, a.Accessed, a.Modified = mode, uid, gid, at, at }
	m.must("mkdir d", "save d/x 123", "save s.md 45")
	for _, p := range []string{"d/x", "s.md"} {
		d, name := m.place(p)
		f, _, err := m.tree.Lookup(ctx, d, name)
		if err != nil {
			t.Fatal(err)
		}
		before := m.tree.Attr(f)
		m.tree.SetAttr(f, change)
		after := m.tree.Attr(f)
		if after.Mode != mode || after.UID != uid || after.GID != gid || !after.Accessed.Equal(at) || !after.Modified.Equal(at) || after.Changed.Before(before.Changed) ||
			after.Ino != before.Ino || after.Size != before.Size || after.Links != 1 {
			t.Errorf("%s: %+v, before %+v", p, after, before)
		}
		m.tree.SetAttr(f, func(*sessions.Attributes) {})
		if again := m.tree.Attr(f); again.Mode != mode || again.UID != uid || !again.Modified.Equal(at) {
			t.Errorf("%s, without a change: %+v", p, again)
		}
	}
	d, _ := m.place("d/x")
	m.tree.SetDirectoryAttr(d, change)
	if after := m.tree.DirectoryAttr(d); after.Mode != mode || after.UID != uid || after.GID != gid || !after.Modified.Equal(at) {
		t.Errorf("d: %+v", after)
	}
}

// TestSessionAttributesLast checks that the mode of a session's file outlasts its save.
func TestSessionAttributesLast(t *testing.T) {
	timed(t, func(m *machine) {
		m.save("s.md", "a")
		f, _, err := m.tree.Lookup(context.Background(), m.tree.Root(), "s.md")
		if err != nil {
			t.Fatal(err)
		}
		mode := uint32(0o600)
		m.tree.SetAttr(f, func(a *sessions.Attributes) { a.Mode = mode })
		m.at(time.Second, "s", "a")
		f, _, err = m.tree.Lookup(context.Background(), m.tree.Root(), "s.md")
		if err != nil || m.tree.Attr(f).Mode != mode {
			t.Errorf("%+v, %v", m.tree.Attr(f), err)
		}
	})
}

// TestReadOnly checks that a tree without a saver shows all and changes nothing.
func TestReadOnly(t *testing.T) {
	m := newMachine(t, t.TempDir())
	if _, err := m.store.Write(context.Background(), "d/s", "text"); err != nil {
		t.Fatal(err)
	}
	m.shutDown()
	m.tree = sessions.New(sessions.Config{Sessions: m.store, Snapshots: m.store})
	defer m.tree.Close(context.Background())
	if got := m.list(m.tree.Root()); got != "d/(s.md=text)" {
		t.Errorf("the tree is %s", got)
	}
	for _, line := range []string{
		"mkdir e", "rmdir d", "unlink d/s.md", "unlink x", "mknod x", "symlink l x", "save x 1", "save t.md 1",
		"link d/s.md x", "link d/s.md t.md", "rename d e", "rename d/s.md x", "exchange d/s.md x",
	} {
		if err := m.call(line); !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v", line, err)
		}
	}
	d, name := m.place("d/s.md")
	f, _, err := m.tree.Lookup(context.Background(), d, name)
	if err != nil || m.tree.Attr(f).Mode != 0o444 || m.tree.DirectoryAttr(d).Mode != 0o555 {
		t.Errorf("modes %o and %o, %v", m.tree.Attr(f).Mode, m.tree.DirectoryAttr(d).Mode, err)
	}
	_, open := m.tree.Open(context.Background(), f, sessions.Mode{Write: true}, editor)
	for call, err := range map[string]error{
		"open": open, "write": m.tree.Write(context.Background(), f, nil, []byte("x"), 0, editor), "truncate": m.tree.Truncate(context.Background(), f, nil, 0, editor),
	} {
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if got := m.history("d/s"); got != "text" {
		t.Errorf("the history is %s", got)
	}
}

// TestDirectoryOfManySessions renames a directory whose sessions partly cannot move.
func TestDirectoryOfManySessions(t *testing.T) {
	timed(t, func(m *machine) {
		for i := range 3 {
			if _, err := m.store.Write(context.Background(), fmt.Sprintf("d/%d", i), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		m.must("save d/new.md n", "rename d e")
		m.at(time.Second, "e/new", "n")
		for i := range 3 {
			m.at(0, fmt.Sprintf("e/%d", i), fmt.Sprint(i))
			m.at(0, fmt.Sprintf("d/%d", i), "-")
		}
		m.cut.set(syscall.EIO)
		if err := m.call("rename e f"); !errors.Is(err, syscall.EIO) {
			t.Errorf("with a store that fails: %v", err)
		}
		m.cut.set(nil)
		if got := m.list(m.tree.Root()); got != "e/(0.md=0 1.md=1 2.md=2 new.md=n)" {
			t.Errorf("the tree is %s", got)
		}
	})
}
