package agent_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
	"github.com/google/go-cmp/cmp"
)

// apply makes changes and returns the error of the agent.
func (c *container) apply(changes func(a *agent.Application) error) error {
	c.t.Helper()
	return c.Apply(func(a *agent.Application) error {
		if err := changes(a); err != nil {
			c.t.Fatal(err)
		}
		return nil
	})
}

// list returns the files below a directory of the container, one per line.
func (c *container) list(below string) []string {
	c.t.Helper()
	var lines []string
	first := map[uint64]string{}
	err := c.Scan(func(e agent.Entry) error {
		if e.Path != below && !strings.HasPrefix(e.Path, below+"/") {
			return nil
		}
		line := fmt.Sprintf("%s %v %o", e.Path, e.Type, e.Mode)
		switch {
		case e.Type == domarkx.Regular && e.Nlink > 1 && first[e.Ino] != "":
			line += " = " + first[e.Ino]
		case e.Type == domarkx.Regular:
			line += fmt.Sprintf(" %d", e.Size)
			first[e.Ino] = e.Path
		case e.Type == domarkx.Symlink:
			line += " -> " + e.Target
		case e.Type == domarkx.CharDevice:
			line += fmt.Sprintf(" %d,%d", e.Major, e.Minor)
		}
		for _, x := range e.Xattrs {
			line += fmt.Sprintf(" %s=%q", x.Name, x.Value)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return lines
}

// file describes a regular file with mode 644.
func file(path string) *agent.Entry {
	return &agent.Entry{Path: path, File: domarkx.File{Type: domarkx.Regular, Mode: 0o644}}
}

func hardLink(path, target string) *agent.Entry {
	return &agent.Entry{Path: path, File: domarkx.File{Type: domarkx.Regular, HardLink: target}}
}

func directory(path string) *agent.Entry {
	return &agent.Entry{Path: path, File: domarkx.File{Type: domarkx.Directory, Mode: 0o755}}
}

func TestApply(t *testing.T) {
	c := start(t)
	large := strings.Repeat("0123456789abcdef", 1<<16)
	err := c.apply(func(a *agent.Application) error {
		return errors.Join(
			a.Put(&agent.Entry{Path: "d", File: domarkx.File{Type: domarkx.Directory, Mode: 0o2770, Xattrs: []domarkx.Xattr{{Name: "user.note", Value: []byte("kept")}}}}, nil),
			a.Put(file("d/empty"), strings.NewReader("")),
			a.Put(&agent.Entry{Path: "d/large", File: domarkx.File{Type: domarkx.Regular, Mode: 0o4711}}, strings.NewReader(large)),
			a.Put(&agent.Entry{Path: "d/link", File: domarkx.File{Type: domarkx.Symlink, Mode: 0o777, Target: "../none"}}, nil),
			a.Put(&agent.Entry{Path: "d/odd \n\xff", File: domarkx.File{Type: domarkx.Fifo, Mode: 0o600}}, nil),
			a.Put(hardLink("d/second", "d/large"), nil),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`d directory 2770 user.note="kept"`, "d/empty file 644 0", fmt.Sprintf("d/large file 4711 %d", len(large)), "d/link symbolic link 777 -> ../none",
		"d/odd \n\xff FIFO 600", "d/second file 4711 = d/large",
	}
	if diff := cmp.Diff(want, c.list("d")); diff != "" {
		t.Errorf("after the first changes (-want +got):\n%s", diff)
	}

	// Replace types by others, change attributes, and remove files.
	err = c.apply(func(a *agent.Application) error {
		return errors.Join(
			a.Put(directory("d"), nil),
			a.Put(directory("d/empty"), nil),
			a.Put(file("d/empty/below"), strings.NewReader("x")),
			a.Put(file("d/link"), strings.NewReader("now a file")),
			a.Delete("d/odd \n\xff"),
			a.Delete("d/large"),
			a.Delete("d/none"),
			a.Delete("d/none/below"),
			a.Put(&agent.Entry{Path: "d/second", File: domarkx.File{Type: domarkx.Symlink, Mode: 0o777, Target: "link"}}, nil),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"d directory 755", "d/empty directory 755", "d/empty/below file 644 1", "d/link file 644 10", "d/second symbolic link 777 -> link"}
	if diff := cmp.Diff(want, c.list("d")); diff != "" {
		t.Errorf("after the second changes (-want +got):\n%s", diff)
	}
	if err := c.apply(func(a *agent.Application) error {
		return errors.Join(a.Put(file("d"), strings.NewReader("y")), a.Delete("d"))
	}); err != nil {
		t.Fatal(err)
	}
	if left := c.list("d"); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// TestApplyRefuses checks that a change that is not allowed fails, that the changes after it are not
// made, and that the agent works afterwards.
func TestApplyRefuses(t *testing.T) {
	c := start(t)
	outside := filepath.Join(t.TempDir(), "outside")
	c.write("target/kept", "kept")
	if err := os.Symlink("target", filepath.Join(c.root, "dirlink")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		change  func(a *agent.Application) error
		message string
	}{
		{"on a mount", func(a *agent.Application) error { return a.Put(file("a mount/x"), strings.NewReader("x")) }, "/a mount is on a mount"},
		{"a mount itself", func(a *agent.Application) error { return a.Delete("dev/null") }, "/dev/null is on a mount"},
		{"the root", func(a *agent.Application) error { return a.Delete("") }, "root directory"},
		{"upwards", func(a *agent.Application) error { return a.Put(file(".."), strings.NewReader("x")) }, "not a valid path"},
		{"a NUL", func(a *agent.Application) error { return a.Put(file("a\x00b"), strings.NewReader("x")) }, "not a valid path"},
		{"through a link", func(a *agent.Application) error { return a.Put(file("dirlink/x"), strings.NewReader("x")) }, "not a directory"},
		{"deleting through a link", func(a *agent.Application) error {
			return errors.Join(a.Delete("dirlink/kept"), a.Put(file("none/x"), strings.NewReader("x")))
		}, "no such file"},
		{"without a parent", func(a *agent.Application) error { return a.Put(file("none/x"), strings.NewReader("x")) }, "no such file"},
		{"a socket", func(a *agent.Application) error {
			return a.Put(&agent.Entry{Path: "s", File: domarkx.File{Type: agent.Socket, Mode: 0o600}}, nil)
		}, "cannot create a file of type"},
		{"a link to nothing", func(a *agent.Application) error { return a.Put(hardLink("l", "none"), nil) }, "no such file"},
	} {
		err := c.apply(func(a *agent.Application) error {
			return errors.Join(test.change(a), a.Put(file("after"), strings.NewReader("the agent must read this, but not write it")))
		})
		var refused *agent.RequestError
		if !errors.As(err, &refused) || !strings.Contains(refused.Message, test.message) {
			t.Errorf("%s: %v, expected %q", test.name, err, test.message)
		}
	}
	if left := c.list("after"); len(left) != 0 {
		t.Error("a change after a refused one was made")
	}
	if c.read("target/kept") != "kept" {
		t.Error("a file behind a link was removed")
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a file outside was written")
	}
}

// TestMounts checks that mounts are skipped unless Hello named them.
func TestMounts(t *testing.T) {
	c := start(t)
	c.sh("touch '/a mount/x'")
	if got := slices.Concat(c.list("a mount"), c.list("proc"), c.list("dev")); !slices.Equal(got, []string{"dev directory 755"}) {
		t.Errorf("listed %q", got)
	}
	c = start(t, "a mount")
	c.sh("touch '/a mount/x'")
	if got := c.list("a mount"); len(got) != 2 || !strings.HasPrefix(got[1], "a mount/x file") {
		t.Errorf("listed %q", got)
	}
	if err := c.apply(func(a *agent.Application) error { return a.Delete("a mount/x") }); err != nil {
		t.Error(err)
	}
}

func TestContents(t *testing.T) {
	c := start(t)
	contents := map[string]string{"c/a": "", "c/b": "b\n", "c/large": strings.Repeat("x", 3<<18+7)}
	for path, content := range contents {
		c.write(path, content)
	}
	paths := []string{"c/a", "c/b", "c/large"}
	sums, err := c.Hash(paths)
	if err != nil || len(sums) != len(paths) {
		t.Fatalf("%d sums, %v", len(sums), err)
	}
	for i, path := range paths {
		if sums[i] != sha256.Sum256([]byte(contents[path])) {
			t.Errorf("%s: another sum", path)
		}
	}
	err = c.Read(paths, func(i int, r io.Reader) error {
		data, err := io.ReadAll(r)
		if string(data) != contents[paths[i]] {
			t.Errorf("%s: read %d bytes", paths[i], len(data))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}

	// Errors, and contents that are not read to the end, leave the agent usable.
	var refused *agent.RequestError
	if _, err := c.Hash([]string{"c/b", "c/none"}); !errors.As(err, &refused) {
		t.Errorf("hash of a missing file: %v", err)
	}
	if _, err := c.Hash([]string{"c"}); !errors.As(err, &refused) {
		t.Errorf("hash of a directory: %v", err)
	}
	failed := errors.New("enough")
	if err := c.Read([]string{"c/large", "c/large", "c/b"}, func(int, io.Reader) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("read: %v", err)
	}
	var got []string
	err = c.Read([]string{"c/none", "c/b"}, func(i int, r io.Reader) error {
		data, err := io.ReadAll(r)
		got = append(got, string(data))
		if i == 0 && !errors.As(err, &refused) || i == 1 && err != nil {
			t.Errorf("content %d: %v", i, err)
		}
		return nil
	})
	if err != nil || !slices.Equal(got, []string{"", "b\n"}) {
		t.Errorf("read %q, %v", got, err)
	}
}

// TestLongPaths uses paths that are longer than PATH_MAX.
func TestLongPaths(t *testing.T) {
	c := start(t)
	name := strings.Repeat("n", 200)
	deep := "long"
	err := c.apply(func(a *agent.Application) error {
		err := a.Put(directory(deep), nil)
		for range 30 {
			deep += "/" + name
			err = errors.Join(err, a.Put(directory(deep), nil))
		}
		return errors.Join(err, a.Put(file(deep+"/f"), bytes.NewReader([]byte("deep"))))
	})
	if err != nil {
		t.Fatal(err)
	}
	if sums, err := c.Hash([]string{deep + "/f"}); err != nil || sums[0] != sha256.Sum256([]byte("deep")) {
		t.Errorf("hash: %v", err)
	}
	if n := len(c.list("long")); n != 32 {
		t.Errorf("%d files, expected 32", n)
	}
	if err := c.apply(func(a *agent.Application) error { return a.Delete("long") }); err != nil {
		t.Error(err)
	}
	if left := c.list("long"); len(left) != 0 {
		t.Errorf("%d files left", len(left))
	}
}

// TestScanOrder checks the order that Client.Scan promises.
func TestScanOrder(t *testing.T) {
	c := start(t)
	for _, path := range []string{"o/b/x", "o/a", "o/b-", "o/B/y"} {
		c.write(path, "")
	}
	var got []string
	for _, line := range c.list("o") {
		got = append(got, strings.Fields(line)[0])
	}
	if want := []string{"o", "o/B", "o/B/y", "o/a", "o/b", "o/b/x", "o/b-"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
