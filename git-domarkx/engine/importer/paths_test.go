//go:build unix

package importer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

func prepare(c *clone) {
	c.T.Helper()
	for name, text := range map[string]string{"a.md": hi, "notes.md": "# Notes\n\nBuy milk.\n", "bin.txt": "\x00\x01", "broken.jsonl.zst": "\x28\xb5\x2f\xfdbroken", "other.db": "SQLite format 3\x00",
		"dir/one.md": hi, "dir/sub/two.md": hi, "dir/.hidden.md": hi, "dir/.git/three.md": hi, "dir/picture.bin": "\x00",
		"storage/session/global/ses_3.json": `{"id":"ses_3","directory":"/w","title":"Stored","time":{"created":1772784003000,"updated":1}}`,
		"storage/message/ses_3/msg_3.json":  `{"id":"msg_3","sessionID":"ses_3","role":"user","time":{"created":1772784003000}}`,
		"storage/part/msg_3/prt_3.json":     `{"id":"prt_3","type":"text","text":"Three"}`} {
		c.WriteFile(name, text)
	}
	path := func(name string) string { return filepath.Join(c.Dir, name) }
	if err := errors.Join(os.Symlink("a.md", path("link.md")), syscall.Mkfifo(path("pipe"), 0o600), syscall.Mkfifo(path("dir/pipe"), 0o600)); err != nil {
		c.T.Fatal(err)
	}
	openCode(c.T, path("opencode.db"))
}

func TestPaths(t *testing.T) {
	const first, second = "opencode/2026-03-06-first", "opencode/2026-03-06-second"
	empty := newClone(t)
	prepare(empty)
	for _, test := range []struct {
		name   string
		r      importer.Request
		want   []string
		bad    string // of the only document that was not imported
		fails  string // of the whole import
		others int
	}{
		{name: "a file", r: importer.Request{Paths: []string{"a.md"}}, want: []string{"a"}},
		{name: "a file with a name", r: importer.Request{Paths: []string{"a.md"}, As: "x/y"}, want: []string{"x/y"}},
		{name: "a link to a file", r: importer.Request{Paths: []string{"link.md"}}, want: []string{"link"}},
		{name: "a file that does not exist", r: importer.Request{Paths: []string{"none.md", "a.md"}}, want: []string{"a"}, bad: "none.md: no such file"},
		{name: "a FIFO", r: importer.Request{Paths: []string{"pipe", "a.md"}}, want: []string{"a"}, bad: "pipe: invalid: not a regular file"},
		{name: "a directory", r: importer.Request{Paths: []string{"dir"}}, want: []string{"one", "sub/two"}, others: 1},
		{name: "a directory with a name", r: importer.Request{Paths: []string{"dir"}, As: "x"}, fails: "--as names one document"},
		{name: "several files with one name", r: importer.Request{Paths: []string{"a.md", "notes.md"}, As: "x"}, fails: "--as names one"},
		{name: "a file that is another thing", r: importer.Request{Paths: []string{"notes.md"}}, bad: "notes.md:1:1: holds no message"},
		{name: "a file that is another thing, as Markdown", r: importer.Request{Paths: []string{"notes.md"}, Format: "md"}, want: []string{"notes"}},
		{name: "a file that is another thing, among known ones", r: importer.Request{Paths: []string{"bin.txt", "a.md"}, Recognized: true}, want: []string{"a"}, others: 1},
		{name: "a format that is none", r: importer.Request{Paths: []string{"a.md"}, Format: "docx"}, bad: "docx"},
		{name: "a format that it has not", r: importer.Request{Paths: []string{"a.md"}, Format: "codex"}, bad: "a.md:1:1: does not begin like a transcript of Codex"},
		{name: "a broken archive", r: importer.Request{Paths: []string{"broken.jsonl.zst"}}, bad: "broken.jsonl.zst: "},
		{name: "standard input", r: importer.Request{Paths: []string{"-"}, As: "typed", Stdin: strings.NewReader(hi)}, want: []string{"typed"}},
		{name: "standard input that cannot be read twice", r: importer.Request{Paths: []string{"-"}, As: "typed", Stdin: iotest.OneByteReader(strings.NewReader(hi))}, want: []string{"typed"}},
		{name: "standard input without a name", r: importer.Request{Paths: []string{"-"}, Stdin: strings.NewReader(hi)}, fails: "give one with --as NAME"},
		{name: "standard input that fails", r: importer.Request{Paths: []string{"-"}, As: "x", Stdin: iotest.ErrReader(formattest.ErrBroken)}, fails: "reading standard input: " + formattest.ErrBroken.Error()},
		{name: "standard input that is another thing", r: importer.Request{Paths: []string{"-"}, As: "x", Stdin: strings.NewReader("Notes.\n")}, bad: "-:1:1: holds no message"},
		{name: "standard input and a file", r: importer.Request{Paths: []string{"a.md", "-"}, As: "typed", Stdin: strings.NewReader(hi)}, want: []string{"a", "typed"}},
		{name: "a database", r: importer.Request{Paths: []string{"opencode.db"}}, want: []string{first, second}},
		{name: "a session of a database", r: importer.Request{Paths: []string{"opencode.db#ses_2"}}, want: []string{second}},
		{name: "a session of a database, with a name", r: importer.Request{Paths: []string{"opencode.db#ses_2"}, As: "x"}, want: []string{"x"}},
		{name: "a database with a name", r: importer.Request{Paths: []string{"opencode.db"}, As: "x"}, bad: "--as names one session, and the database has 2"},
		{name: "a session that a database lacks", r: importer.Request{Paths: []string{"opencode.db#ses_9"}}, bad: `it has no session "ses_9"`},
		{name: "a database as another format", r: importer.Request{Paths: []string{"opencode.db"}, Format: "md"}, bad: "only sessions of opencode are read"},
		{name: "a session of a file that does not exist", r: importer.Request{Paths: []string{"none.db#ses_1"}}, bad: "none.db: "},
		{name: "another database", r: importer.Request{Paths: []string{"other.db"}}, bad: "other.db"},
		{name: "files of old versions of OpenCode", r: importer.Request{Paths: []string{"storage"}}, want: []string{"opencode/2026-03-06-stored"}},
		{name: "files to attach to several", r: importer.Request{Paths: []string{"a.md", "dir"}, Attach: []string{"notes.md"}}, fails: "files are attached to one"},
		{name: "titles that are left out", r: importer.Request{Paths: []string{"opencode.db"}, Ignore: func(title string) bool { return title == "First" }}, want: []string{second}},
		{name: "nothing", r: importer.Request{}, want: []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &clone{enginetest.Open(t, empty.Dir, empty.Settings)} // those that import nothing share it
			if len(test.want) > 0 {
				c = newClone(t)
				prepare(c)
			}
			t.Chdir(c.Dir)
			result, err := c.Import(t.Context(), test.r)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("fails with %v, want %q", err, test.fails)
				}
				if got := c.sessions(); len(got) > 0 {
					t.Errorf("there are sessions %q", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := append([]string{}, test.want...)
			if diff := cmp.Diff(want, names(result)); diff != "" {
				t.Errorf("sessions (-want +got):\n%s", diff)
			}
			if (test.bad != "") != (len(result.Bad) == 1) || len(result.Bad) > 0 && !strings.Contains(result.Bad[0].Error(), test.bad) {
				t.Errorf("bad: %v, want %q", result.Bad, test.bad)
			}
			if result.Others != test.others {
				t.Errorf("%d others, want %d", result.Others, test.others)
			}
			if diff := cmp.Diff(want, c.sessions()); diff != "" {
				t.Errorf("all sessions (-want +got):\n%s", diff)
			}
			if test.r.Stdin != nil || len(want) == 0 {
				return
			}
			again, err := c.Import(t.Context(), test.r)
			if err != nil || !cmp.Equal(c.sessions(), want) {
				t.Errorf("imported again: %v, sessions %q", err, c.sessions())
			}
			for _, saved := range again.Sessions {
				if saved.Changed {
					t.Errorf("imported again: %s has changed", saved.Name)
				}
			}
		})
	}
}

func TestAttach(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	c := newClone(t)
	t.Chdir(c.Dir)
	for name, text := range map[string]string{"docs/notes.txt": "notes", "docs/sub/deep.txt": "deep", "docs/a.png": png, "docs/ignored.png": png,
		"outside.txt": "outside", "outside.png": png, ".gitignore": "ignored.png\n"} {
		c.WriteFile(name, text)
	}
	for _, name := range []string{"docs/huge.bin", "docs/huge.png"} {
		c.WriteFile(name, png)
		if err := os.Truncate(name, engine.MaxFileSize+1); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("notes.txt", "docs/link.txt"), os.Symlink("sub", "docs/linked"), syscall.Mkfifo("docs/pipe", 0o600)); err != nil {
		t.Fatal(err)
	}
	for i, test := range []struct {
		name   string
		text   string
		attach []string
		want   []string // the attached files
		warn   string
		bad    string
	}{
		{name: "a file", attach: []string{"docs/notes.txt"}, want: []string{"notes.txt"}},
		{name: "a file below", attach: []string{"docs/sub/deep.txt"}, want: []string{"sub/deep.txt"}},
		{name: "a file twice", attach: []string{"docs/notes.txt", "docs/./notes.txt"}, want: []string{"notes.txt"}},
		{name: "a file elsewhere", attach: []string{"outside.txt"}, bad: "it is not in the document's directory"},
		{name: "the directory itself", attach: []string{"docs"}, bad: "it is not in the document's directory"},
		{name: "a directory", attach: []string{"docs/sub"}, bad: "it is not a regular file"},
		{name: "a FIFO", attach: []string{"docs/pipe"}, bad: "it is not a regular file"},
		{name: "a link", attach: []string{"docs/link.txt"}, bad: "symbolic link"},
		{name: "a file behind a link", attach: []string{"docs/linked/deep.txt"}, bad: "symbolic link"},
		{name: "no file", attach: []string{"docs/none.txt"}, bad: "no such file"},
		{name: "a huge file", attach: []string{"docs/huge.bin"}, bad: "more than 16 MiB"},
		{name: "an image", text: "![x](a.png)", want: []string{"a.png"}},
		{name: "an image twice", text: "![x](a.png) ![y](./a.png) ![z](<a.png>)", want: []string{"a.png"}},
		{name: "an image that Git ignores", text: "![x](ignored.png)", warn: "Git ignores it"},
		{name: "an image that is another thing", text: "![x](notes.txt)", warn: "it is not a PNG, JPEG, GIF, WebP or AVIF image"},
		{name: "an image that is there as an attachment", text: "![x](notes.txt)", attach: []string{"docs/notes.txt"}, want: []string{"notes.txt"}},
		{name: "no image", text: "![x](none.png)", warn: "there is no such file"},
		{name: "an image elsewhere", text: "![x](../outside.png)", warn: "../outside.png"},
		{name: "an image behind a link", text: "![x](linked/deep.txt)", warn: "symbolic link"},
		{name: "an image on the web", text: "![x](https://example.com/a.png)"},
		{name: "a huge image", text: "![x](huge.png)", warn: "more than 16 MiB"},
		{name: "many images", text: func() string {
			var b strings.Builder
			for i := range 15 {
				fmt.Fprintf(&b, "![x](none-%d.png)\n", i)
			}
			return b.String()
		}(), warn: "there is no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			document := fmt.Sprintf("docs/s%d.md", i)
			c.WriteFile(document, "## user\n\nHi "+test.text+"\n")
			result, err := c.Import(t.Context(), importer.Request{Paths: []string{document}, Attach: test.attach})
			if err = errors.Join(append(result.Bad, err)...); (test.bad != "") != (err != nil) || err != nil && !strings.Contains(err.Error(), test.bad) {
				t.Fatalf("bad: %v, want %q", err, test.bad)
			}
			if test.bad != "" {
				return
			}
			var got []string
			for _, f := range result.Attached {
				got = append(got, f.Path)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("attached (-want +got):\n%s", diff)
			}
			warned := slices.ContainsFunc(result.Warnings, func(err error) bool { return strings.Contains(err.Error(), test.warn) })
			if (test.warn == "") != (len(result.Warnings) == 0) || test.warn != "" && !warned || len(result.Warnings) > 1 {
				t.Errorf("warnings %v, want %q", result.Warnings, test.warn)
			}
			var repeated *importer.Repeated
			if n := strings.Count(test.text, "none-"); n > 0 && (!errors.As(result.Warnings[0], &repeated) || repeated.Count != n) {
				t.Errorf("%v, want it for %d images", result.Warnings[0], n)
			}
		})
	}
	c.Fsck()
}
