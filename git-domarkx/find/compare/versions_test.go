package compare_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/find/compare"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// A stored file is a file of a version with its content.
type stored struct {
	domarkx.File
	content string
}

func text(content string) stored {
	return stored{domarkx.File{Name: "f", Type: domarkx.Regular, Mode: 0o644}, content}
}

// resource stores the version of a resource that has these files in its top directory.
func resource(c *enginetest.Clone, id string, files ...stored) domarkx.ResourceVersion {
	c.T.Helper()
	ctx := c.T.Context()
	w, err := c.Store.BeginVersion(ctx, "")
	if err != nil {
		c.T.Fatal(err)
	}
	defer w.Abort()
	if err := w.Add(ctx, "", domarkx.File{Type: domarkx.Directory, Mode: 0o755}); err != nil {
		c.T.Fatal(err)
	}
	for _, f := range files {
		if f.Type == domarkx.Regular {
			if f.ID, f.Size, err = w.Content(ctx, strings.NewReader(f.content)); err != nil {
				c.T.Fatal(err)
			}
		}
		if err := w.Add(ctx, f.Name, f.File); err != nil {
			c.T.Fatal(err)
		}
	}
	version, err := w.Finish(ctx)
	if err == nil {
		err = w.Settle()
	}
	if err != nil {
		c.T.Fatal(err)
	}
	return domarkx.ResourceVersion{ResourceSpec: domarkx.ResourceSpec{ID: id, Type: "notes", Config: jsonvalue.ObjectValue()}, Version: version}
}

func versionOf(resources ...domarkx.ResourceVersion) domarkx.Version {
	return domarkx.Version{Resources: resources}
}

func diffed(c *enginetest.Clone, a, b domarkx.Version) string {
	c.T.Helper()
	var all bytes.Buffer
	if err := compare.Versions(c.T.Context(), c.Store, a, b, func(text []byte) error { _, err := all.Write(text); return err }); err != nil {
		c.T.Fatal(err)
	}
	return all.String()
}

// TestDiffOfFiles compares two versions of a file.
func TestDiffOfFiles(t *testing.T) {
	with := func(s stored, change func(*stored)) stored { change(&s); return s }
	node := func(kind domarkx.FileType, mode uint32) stored {
		return stored{File: domarkx.File{Name: "f", Type: kind, Mode: mode}}
	}
	link := func(target string) stored {
		return stored{File: domarkx.File{Name: "f", Type: domarkx.Symlink, Target: target}}
	}
	owned := func(uid, gid uint32) stored {
		return with(text("a\n"), func(s *stored) { s.HasOwner, s.UID, s.GID = true, uid, gid })
	}
	attributed := func(pairs ...string) stored {
		return with(text("a\n"), func(s *stored) {
			for i := 0; i < len(pairs); i += 2 {
				s.Xattrs = append(s.Xattrs, domarkx.Xattr{Name: pairs[i], Value: []byte(pairs[i+1])})
			}
		})
	}
	device := func(minor uint32) stored {
		return with(node(domarkx.CharDevice, 0o600), func(s *stored) { s.Major, s.Minor = 1, minor })
	}
	large := strings.Repeat("x\n", 8<<20+1)
	const head = "diff --git a/r/f b/r/f\n"
	none := stored{}
	tests := []struct {
		name string
		a, b stored
		want string
	}{
		{"the same", text("a\n"), text("a\n"), ""},
		{"edited", text("a\nb\nc\n"), text("a\nB\nc\n"), head + "--- a/r/f\n+++ b/r/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"created", none, text("a\n"), head + "new file mode 100644\n--- /dev/null\n+++ b/r/f\n@@ -0,0 +1,1 @@\n+a\n"},
		{"removed", text("a\n"), none, head + "deleted file mode 100644\n--- a/r/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"},
		{"created empty", none, text(""), head + "new file mode 100644\n"},
		{"made executable", text("a\n"), with(text("a\n"), func(s *stored) { s.Mode = 0o755 }), head + "old mode 100644\nnew mode 100755\n"},
		{"a mode that Git does not store", text("a\n"), with(text("a\n"), func(s *stored) { s.Mode = 0o4600 }), head + "old mode 100644\nnew mode 104600\n"},
		{"binary", text("a\x00b"), text("a\x00c"), head + "Binary files a/r/f and b/r/f differ\n"},
		{"made binary", text("a\n"), text("a\x00"), head + "Binary files a/r/f and b/r/f differ\n"},
		{"a new binary file", none, text("\x00"), head + "new file mode 100644\nBinary files /dev/null and b/r/f differ\n"},
		{"large", text(large), text("a\n"), head + "Large files a/r/f and b/r/f differ\n"},
		{"owned by another", owned(1, 2), owned(3, 2), head + "old owner 1:2\nnew owner 3:2\n"},
		{"of another group", owned(1, 2), owned(1, 3), head + "old owner 1:2\nnew owner 1:3\n"},
		{"created with an owner", none, owned(5, 6), head + "new file mode 100644\nnew owner 5:6\n--- /dev/null\n+++ b/r/f\n@@ -0,0 +1,1 @@\n+a\n"},
		{"a device", none, device(3), head + "new file mode 020600\ndevice 1:3\n"},
		{"another device", device(3), device(5), head + "device 1:5\n"},
		{"a block device", none, with(node(domarkx.BlockDevice, 0o660), func(s *stored) { s.Major = 8 }), head + "new file mode 060660\ndevice 8:0\n"},
		{"a FIFO", none, node(domarkx.Fifo, 0o600), head + "new file mode 010600\n"},
		{"an empty directory", none, node(domarkx.Directory, 0o700), head + "new file mode 040700\n"},
		{"a directory's mode", node(domarkx.Directory, 0o755), node(domarkx.Directory, 0o700), head + "old mode 040755\nnew mode 040700\n"},
		{"a link", link("old"), link("new"), head + "--- a/r/f\n+++ b/r/f\n@@ -1,1 +1,1 @@\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file\n"},
		{"another type", link("x"), text("a\n"), head + "deleted file mode 120000\n--- a/r/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n\\ No newline at end of file\n" + head + "new file mode 100644\n--- /dev/null\n+++ b/r/f\n@@ -0,0 +1,1 @@\n+a\n"},
		{"extended attributes", attributed("user.a", "1", "user.b", "1", "user.c", "1"), attributed("user.b", "2", "user.c", "1", "user.d", "1"),
			head + "extended attribute user.a\nextended attribute user.b\nextended attribute user.d\n"},
	}
	c := enginetest.New(t)
	of := func(s stored) domarkx.Version {
		if s.Type == 0 {
			return versionOf(resource(c, "r"))
		}
		return versionOf(resource(c, "r", s))
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := diffed(c, of(tt.a), of(tt.b))
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestDiffOfHardLinks compares names of one file.
func TestDiffOfHardLinks(t *testing.T) {
	c := enginetest.New(t)
	first, second, same := text("a\n"), text("a\n"), text("a\n")
	second.Name, same.Name = "g", "g"
	same.HardLink = "f"
	apart, together := versionOf(resource(c, "r", first, second)), versionOf(resource(c, "r", first, same))
	if got, want := diffed(c, apart, together), "diff --git a/r/g b/r/g\nhard link to f\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := diffed(c, together, apart), "diff --git a/r/g b/r/g\nno hard link\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDiffOfResources compares versions with other resources, and with other configurations.
func TestDiffOfResources(t *testing.T) {
	c := enginetest.New(t)
	one, two := resource(c, "one", text("1\n")), resource(c, "two", text("2\n"))
	configured := one
	configured.Config = jsonvalue.ObjectValue(jsonvalue.Member{Name: "title", Value: jsonvalue.StringValue("T")})
	both := diffed(c, versionOf(one), versionOf(two))
	for _, part := range []string{"--- a/workspace.json\n", "-one (notes): {}\n+two (notes): {}\n", "diff --git a/one/f b/one/f\ndeleted file mode 100644\n", "diff --git a/two/f b/two/f\nnew file mode 100644\n"} {
		if !strings.Contains(both, part) {
			t.Errorf("no %q in\n%s", part, both)
		}
	}
	if strings.Index(both, "/one/f") > strings.Index(both, "/two/f") {
		t.Error("the resources are not sorted")
	}
	if got := diffed(c, versionOf(one), versionOf(configured)); !strings.Contains(got, `+  "title": "T"`) || strings.Contains(got, "one/f") {
		t.Errorf("another configuration:\n%s", got)
	}
	if got := diffed(c, versionOf(one, two), versionOf(one, two)); got != "" {
		t.Errorf("the same:\n%s", got)
	}
	stop := errors.New("stop")
	n := 0
	err := compare.Versions(t.Context(), c.Store, versionOf(one), versionOf(two), func([]byte) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("emit failed: called %d times, %v", n, err)
	}
	missing := one
	missing.Version = strings.Repeat("1", 40)
	if err := compare.Versions(t.Context(), c.Store, versionOf(missing), versionOf(one), func([]byte) error { return nil }); !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), `resource "one"`) {
		t.Errorf("a missing version: %v", err)
	}
}

// TestDiffApplies checks that Git applies the diff of random texts, which gives the new texts.
func TestDiffApplies(t *testing.T) {
	c := enginetest.New(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	lines := []string{"a\n", "b\n", "c\n", "\n", "--- x\n", "+++ y\n", "@@ -1 +1 @@\n", "\\ No newline\n", "é\n", "d\r\n"}
	draw := func() string {
		all := ""
		for range random.IntN(12) {
			all += lines[random.IntN(len(lines))]
		}
		if random.IntN(3) == 0 {
			all = strings.TrimSuffix(all, "\n")
		}
		return all
	}
	var old, now []stored
	for n := range 200 {
		a, b := text(draw()), text(draw())
		a.Name = fmt.Sprintf("f%03d", n)
		b.Name = a.Name
		c.WriteFile("r/"+a.Name, a.content)
		old, now = append(old, a), append(now, b)
	}
	patch := diffed(c, versionOf(resource(c, "r", old...)), versionOf(resource(c, "r", now...)))
	cmd := exec.CommandContext(t.Context(), "git", "-C", c.Dir, "apply", "--whitespace=nowarn", "-")
	cmd.Stdin = strings.NewReader(patch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s\n%s", err, out, patch)
	}
	for _, b := range now {
		if got, err := os.ReadFile(filepath.Join(c.Dir, "r", b.Name)); err != nil || string(got) != b.content {
			t.Errorf("%s: applied %q, %v; want %q", b.Name, got, err, b.content)
		}
	}
}
