package refdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// open returns the references of a repository; several calls behave like several processes.
func open(t testing.TB, dir string) *refdb.Refs {
	t.Helper()
	g, err := gitcmd.Discover(t.Context(), dir, gittest.Env())
	if err != nil {
		t.Fatal(err)
	}
	return refdb.Open(t.Context(), g)
}

// backends runs a test in a repository of each backend of references. That of reftable has SHA-256, too, as Git 3.0 makes
// repositories.
func backends(t *testing.T, test func(t *testing.T, dir string)) {
	t.Run("files", func(t *testing.T) { test(t, gittest.Init(t)) })
	t.Run("reftable", func(t *testing.T) { test(t, initReftable(t)) })
}

// initReftable creates a repository with the reftable backend and SHA-256.
func initReftable(t *testing.T) string {
	t.Helper()
	if gittest.Try("", "init", "-q", "--ref-format=reftable", filepath.Join(t.TempDir(), "x")) != nil && os.Getenv("GIT_DEFAULT_REF_FORMAT") != "reftable" {
		t.Skip("the reftable backend needs Git 2.45; make test-formats downloads one")
	}
	return gittest.Init(t, "--ref-format=reftable", "--object-format=sha256")
}

// update takes the lock for one update.
func update(t testing.TB, refs *refdb.Refs, changes ...refdb.Change) error {
	t.Helper()
	release, err := refs.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	return refs.Update(t.Context(), "test", changes...)
}

func session(name string) string { return "refs/domarkx/sessions/" + name }

func TestReadAndList(t *testing.T) { backends(t, testReadAndList) }

func testReadAndList(t *testing.T, dir string) {
	refs := open(t, dir)
	ids := gittest.Commits(t, dir, 3)
	for i, name := range []string{"b", "a/c", "a-b", "ä"} {
		if err := update(t, refs, refdb.Change{Ref: session(name), New: ids[i%3]}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string) {
		t.Helper()
		got, err := refs.List("refs/domarkx/sessions/")
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, ref := range got {
			lines = append(lines, ref.ID+" "+ref.Name)
			id, ok, err := refs.Read(ref.Name)
			if id != ref.ID || !ok || err != nil {
				t.Errorf("%s: Read(%q) = %q, %v, %v, want %q", when, ref.Name, id, ok, err, ref.ID)
			}
		}
		want := gittest.Run(t, dir, "for-each-ref", "--format=%(objectname) %(refname)", "refs/domarkx/sessions/")
		if strings.Join(lines, "\n") != want {
			t.Errorf("%s: List =\n%s\nwant\n%s", when, strings.Join(lines, "\n"), want)
		}
		if _, ok, err := refs.Read(session("a")); ok || err != nil {
			t.Errorf("%s: a directory reads as %v, %v", when, ok, err)
		}
		if _, ok, err := refs.Read(session("b/none")); ok || err != nil {
			t.Errorf("%s: a name below a reference reads as %v, %v", when, ok, err)
		}
		if _, ok, err := refs.Read(session(strings.Repeat("x", 300))); ok || err != nil {
			t.Errorf("%s: a name that no file can have reads as %v, %v", when, ok, err)
		}
		below, err := refs.List(session("a/"))
		if err != nil || len(below) != 1 {
			t.Errorf("%s: below a/: %v, %v", when, below, err)
		}
		begin, err := refs.List(session("a"))
		if err != nil || len(begin) != 2 {
			t.Errorf("%s: beginning with a: %v, %v", when, begin, err)
		}
	}
	check("loose")
	gittest.Run(t, dir, "pack-refs", "--all")
	check("packed")
	if err := update(t, refs, refdb.Change{Ref: session("b"), Old: ids[0], New: ids[2]}, refdb.Change{Ref: session("new"), New: ids[0]}); err != nil {
		t.Fatal(err)
	}
	check("both")
}

func TestPackedSearch(t *testing.T) {
	dir := gittest.Init(t)
	refs := open(t, dir)
	for _, header := range []string{"# pack-refs with: peeled fully-peeled sorted \n", "# pack-refs with: peeled \n", ""} {
		var want []refdb.Ref
		var file strings.Builder
		file.WriteString(header)
		for i := range 5000 {
			ref := refdb.Ref{Name: fmt.Sprintf("refs/domarkx/sessions/%05d%s", i*3, strings.Repeat("x", i%90)), ID: fmt.Sprintf("%040x", i)}
			want = append(want, ref)
			fmt.Fprintf(&file, "%s %s\n", ref.ID, ref.Name)
			if i%7 == 0 {
				fmt.Fprintf(&file, "^%040x\n", i)
			}
		}
		for range 5000 {
			fmt.Fprintf(&file, "%040x refs/tags/%s\n", 1, strings.Repeat("z", 30))
		}
		if err := os.WriteFile(filepath.Join(dir, ".git", "packed-refs"), []byte(file.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := refs.List("refs/domarkx/")
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q: List: %d references, %v, want %d", header, len(got), err, len(want))
		}
		for i, ref := range want {
			if i%97 == 0 || i < 3 || i > len(want)-3 {
				if id, ok, err := refs.Read(ref.Name); id != ref.ID || !ok || err != nil {
					t.Fatalf("%q: Read(%q) = %q, %v, %v", header, ref.Name, id, ok, err)
				}
			}
		}
		for _, name := range []string{"refs/a", "refs/domarkx/sessions/00001", "refs/z", "refs/domarkx/sessions/99999"} {
			if id, ok, err := refs.Read(name); ok || err != nil {
				t.Errorf("%q: Read(%q) = %q, %v, %v", header, name, id, ok, err)
			}
		}
	}
}

func TestDamaged(t *testing.T) {
	dir := gittest.Init(t)
	refs := open(t, dir)
	id := gittest.Commits(t, dir, 1)[0]
	if err := update(t, refs, refdb.Change{Ref: session("good"), New: id}); err != nil {
		t.Fatal(err)
	}
	directory := filepath.Join(dir, ".git", "refs", "domarkx", "sessions")
	for name, content := range map[string]string{
		"empty": "", "short": id[:39], "upper": strings.ToUpper(id), "long": id + "0\n", "symbolic": "ref: refs/heads/main\n", "held.lock": id,
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../heads/main", filepath.Join(directory, "link")); err != nil {
		t.Fatal(err)
	}
	list, err := refs.List("refs/domarkx/")
	if err != nil || len(list) != 1 || list[0].ID != id {
		t.Errorf("List = %v, %v", list, err)
	}
	damaged, err := refs.Damaged("refs/domarkx/")
	if err != nil || len(damaged) != 6 {
		t.Errorf("Damaged = %v, %v", damaged, err)
	}
	for name, want := range map[string]error{"empty": domarkx.ErrCorrupt, "long": domarkx.ErrCorrupt, "symbolic": domarkx.ErrUnsupported, "link": domarkx.ErrUnsupported} {
		if _, _, err := refs.Read(session(name)); !errors.Is(err, want) {
			t.Errorf("Read(%q): %v, want %v", name, err, want)
		}
		if err := update(t, refs, refdb.Change{Ref: session(name), Old: id, New: id}); !errors.Is(err, want) {
			t.Errorf("Update(%q): %v, want %v", name, err, want)
		}
	}
	for _, content := range []string{"nonsense\n", id + " refs/x", id + "\n", strings.Repeat("x", 100_000)} {
		if err := os.WriteFile(filepath.Join(dir, ".git", "packed-refs"), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := refs.List("refs/domarkx/"); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("packed-refs %.20q: %v", content, err)
		}
	}
}

func TestNames(t *testing.T) {
	refs := open(t, gittest.Init(t))
	for _, name := range []string{"", "refs", "refs/", "HEAD", "refs//x", "refs/x/", "refs/../x", "refs/.x", "refs/x.lock", "refs/x.lock/y", "refs/a b", "refs/x\n", "refs/x@{1}", "refs/x.", "refs/\\x", "/refs/x"} {
		if _, _, err := refs.Read(name); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("Read(%q): %v, want %v", name, err, domarkx.ErrInvalid)
		}
	}
	if _, err := refs.List("../"); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("List: %v", err)
	}
}
