package local_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// newFile returns the local state of a new repository with some configuration, and its directory.
func newFile(t *testing.T, config ...[]string) (local.File, string) {
	t.Helper()
	dir := t.TempDir()
	for key, value := range map[string]string{"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"} {
		t.Setenv(key, value)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	for _, args := range config {
		gitConfig(t, dir, args...)
	}
	git, err := gitcmd.Discover(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return local.NewFile(git), dir
}

func gitConfig(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", dir, "config"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git config %q: %v\n%s", args, err, out)
	}
}

func add(value string) func([]string) []string {
	return func(values []string) []string { return append(values, value) }
}

func TestFile(t *testing.T) {
	f, dir := newFile(t)
	ctx := t.Context()
	if values, err := f.All(ctx, "trust"); err != nil || values != nil {
		t.Fatalf("%q, %v", values, err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if err := f.Change(ctx, "trust", add(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	values, err := f.All(ctx, "trust")
	if slices.Sort(values); err != nil || strings.Join(values, "") != "01234567" {
		t.Errorf("after concurrent changes: %q, %v", values, err)
	}
	path := filepath.Join(dir, ".git", "domarkx", "local.json")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if before.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read it: %v", before.Mode())
	}
	if err := f.Change(ctx, "trust", func(values []string) []string { return values }); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Error("a change to the same values was written")
	}
	if err := f.Change(ctx, "trust", func([]string) []string { return nil }); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "trust") {
		t.Errorf("a key without values: %s, %v", data, err)
	}
}

// TestDamagedFile reads states that nobody can trust. They must not count as an empty state, which the
// next change would write.
func TestDamagedFile(t *testing.T) {
	f, dir := newFile(t)
	ctx := t.Context()
	if err := f.Change(ctx, "trust", add("x")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ".git", "domarkx", "local.json")
	for content, want := range map[string]error{
		"{":                            domarkx.ErrCorrupt,
		`{"format": 1, "values": []}`:  domarkx.ErrCorrupt,
		`{"format": 2, "values": {}}`:  domarkx.ErrUnsupported,
		`{"values": {"trust": ["y"]}}`: domarkx.ErrUnsupported,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.All(ctx, "trust"); !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v and the path", content, err, want)
		}
		if err := f.Change(ctx, "trust", add("z")); !errors.Is(err, want) {
			t.Errorf("changing %s: %v", content, err)
		}
		if data, err := os.ReadFile(path); string(data) != content || err != nil {
			t.Errorf("%s became %s", content, data)
		}
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil { // as the error advises
		t.Fatal(err)
	}
	if values, err := f.All(ctx, "trust"); len(values) > 0 || err != nil {
		t.Errorf("an emptied file: %q, %v", values, err)
	}
}

func TestAttach(t *testing.T) {
	f, _ := newFile(t)
	ctx := t.Context()
	for _, step := range [][2]string{{"a", "w"}, {"ab", "v"}, {"a", "v"}} {
		if err := local.Attach(ctx, f, step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	for session, want := range map[string]string{"a": "v", "ab": "v", "b": "b"} {
		if got, err := local.WorkspaceOf(ctx, f, session); got != want || err != nil {
			t.Errorf("%s works in %q, %v, want %q", session, got, err, want)
		}
	}
	if err := local.Attach(ctx, f, "a", ""); err != nil {
		t.Fatal(err)
	}
	if all, err := local.Attached(ctx, f); len(all) != 1 || all["ab"] != "v" || err != nil {
		t.Errorf("%v, %v", all, err)
	}
}

func TestSameContent(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	tests := []struct {
		a, b string
		same bool
	}{{"", "", true}, {"a", "", false}, {"", "a", false}, {long, long, true}, {long, long + "y", false}, {long + "y", long, false},
		{long[:64<<10], long[:64<<10], true}, {long[:64<<10], long[:64<<10] + "x", false}, {long, long[1:] + "y", false}}
	for i, tt := range tests {
		same, err := local.SameContent(strings.NewReader(tt.a), iotest.OneByteReader(strings.NewReader(tt.b)))
		if same != tt.same || err != nil {
			t.Errorf("%d: %v, %v, want %v", i, same, err, tt.same)
		}
	}
	broken := errors.New("broken disk")
	for _, pair := range [][2]io.Reader{{iotest.ErrReader(broken), strings.NewReader("")}, {strings.NewReader(""), iotest.ErrReader(broken)}} {
		if _, err := local.SameContent(pair[0], pair[1]); !errors.Is(err, broken) {
			t.Errorf("error %v, want %v", err, broken)
		}
	}
}

func TestStamp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	stamp := func() string {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return local.Stamp(info)
	}
	if err := local.Replace(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	before := stamp()
	if stamp() != before {
		t.Error("the stamp of an unchanged file changed")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := local.Replace(path, []byte("two")); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ { // both may have been in one tick of the file system's clock
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if stamp() != before {
			break
		} else if n == 1_000_000 {
			t.Fatal("a file of the same size and time of change has the stamp of the file that it replaced")
		}
	}
}

// TestReadMap: a file that is missing or damaged has no values, and others can be set.
func TestReadMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dir", "map.json")
	for _, content := range []string{"", "{", "null", "[]", `{"a": 1}`} {
		if content != "" {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, err := local.ReadMap[int](path)
		if err != nil || all == nil || len(all) != 0 && (content != `{"a": 1}` || all["a"] != 1) {
			t.Errorf("%q is read as %v, %v", content, all, err)
		}
		all["b"] = 2
		if err := local.WriteMap(path, all); err != nil {
			t.Fatal(err)
		}
		if again, err := local.ReadMap[int](path); err != nil || again["b"] != 2 {
			t.Errorf("%v is read as %v, %v", all, again, err)
		}
	}
}
