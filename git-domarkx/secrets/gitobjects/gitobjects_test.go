package gitobjects_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/secrets/gitobjects"
)

// A repository is a repository that git wrote.
type repository struct {
	t   testing.TB
	dir string
}

func newRepository(t testing.TB, format string) repository {
	r := repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main", "--object-format="+format)
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repository) write(name, content string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// objects returns what git reads of all objects of the repository, by the id.
func (r repository) objects() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(r.git("cat-file", "--batch-all-objects", "--batch-check")) {
		fields := strings.Fields(line)
		cmd := exec.Command("git", "cat-file", fields[1], fields[0])
		cmd.Dir = r.dir
		content, err := cmd.Output()
		if err != nil {
			r.t.Fatal(err)
		}
		if fields[1] == "tree" {
			content = []byte(r.git("ls-tree", "--name-only", fields[0]) + "\n")
		}
		all[fields[0]] = fields[1] + " " + string(content)
	}
	return all
}

// fill makes a history with deltas, tags, notes and a stash.
func (r repository) fill() {
	var text strings.Builder
	for i := range 3000 {
		text.WriteString(strings.Repeat("line ", i%7) + string(rune('a'+i%26)) + "\n")
	}
	for _, change := range []string{"first", "second", "third", "fourth"} {
		r.write("big", text.String()+change)
		text.WriteString(change + " stays\n")
		r.git("add", "big")
		r.git("commit", "-qm", change)
	}
	r.git("tag", "-am", "about the tag", "v1")
	r.git("notes", "add", "-m", "about the note")
	r.write("big", "stashed")
	r.git("stash")
}

func files(t testing.TB, dir, pattern string) [][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v, %v", pattern, paths, err)
	}
	var all [][]byte
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content)
	}
	return all
}

const plenty = 1 << 30

func read(t *testing.T, content []byte) (objects []gitobjects.Object) {
	t.Helper()
	left := int64(plenty)
	if err := gitobjects.Read(content, &left, func(o gitobjects.Object) {
		o.Content = bytes.Clone(o.Content)
		objects = append(objects, o)
	}); err != nil {
		t.Error(err)
	}
	return objects
}

// TestRead compares the objects read from loose files, from packs with deltas of each kind and from
// bundles with what git reads.
func TestRead(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := newRepository(t, format)
			r.fill()
			want := r.objects()
			contents := map[string]bool{}
			for _, o := range want {
				contents[o] = true
			}
			loose := files(t, r.dir, ".git/objects/??/*")
			if len(loose) != len(want) {
				t.Errorf("%d loose objects, expected %d", len(loose), len(want))
			}
			for _, content := range loose {
				for _, o := range read(t, content) {
					if !contents[o.Kind+" "+string(o.Content)] {
						t.Errorf("a loose object is read as %s %.100q", o.Kind, o.Content)
					}
				}
			}
			r.git("gc", "-q")
			r.git("bundle", "create", "-q", "all.bundle", "--all", "--reflog")
			r.git("-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq")
			for name, pack := range map[string][]byte{"ref-deltas": files(t, r.dir, ".git/objects/pack/*.pack")[0], "bundle": files(t, r.dir, "all.bundle")[0]} {
				got := map[string]string{}
				for _, o := range read(t, pack) {
					if o.ID != "" {
						got[o.ID] = o.Kind + " " + string(o.Content)
					} else if o.Kind != "header" {
						t.Errorf("%s: %s without an id", name, o.Kind)
					}
				}
				for id, content := range want {
					if got[id] != content {
						t.Errorf("%s: %s: %.100q, expected %.100q", name, id, got[id], content)
					}
				}
			}
			r.git("repack", "-adfq")
			if got := read(t, files(t, r.dir, ".git/objects/pack/*.pack")[0]); len(got) != len(want) {
				t.Errorf("offset deltas: %d objects, expected %d", len(got), len(want))
			}
		})
	}
}

// TestReadThin reads a bundle of new commits only, whose deltas have bases that it does not contain.
func TestReadThin(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		r := newRepository(t, format)
		r.fill()
		big := string(files(t, r.dir, "big")[0])
		r.write("big", big[:len(big)/2]+"the inserted text"+big[len(big)/2:])
		r.git("commit", "-qam", "fifth")
		r.git("bundle", "create", "-q", "new.bundle", "main^..main")
		found := false
		for _, o := range read(t, files(t, r.dir, "new.bundle")[0]) {
			found = found || o.Kind == "delta" && strings.Contains(string(o.Content), "the inserted text")
		}
		if !found {
			t.Errorf("%s: the inserted text was not found", format)
		}
	}
}

func expected(err error) bool {
	return errors.Is(err, domarkx.ErrCorrupt) || errors.Is(err, domarkx.ErrUnsupported)
}

// TestReadDamaged checks that files with a missing or changed part are errors.
func TestReadDamaged(t *testing.T) {
	r := newRepository(t, "sha1")
	r.fill()
	loose := files(t, r.dir, ".git/objects/??/*")
	r.git("gc", "-q")
	pack := files(t, r.dir, ".git/objects/pack/*.pack")[0]
	withCount := func(n byte) []byte {
		c := bytes.Clone(pack)
		c[11] = n
		return c
	}
	tests := []struct {
		name    string
		content []byte
	}{
		{"header only", pack[:12]},
		{"half", pack[:len(pack)/2]},
		{"without its checksum", pack[:len(pack)-20]},
		{"fewer objects", withCount(2)},
		{"more objects", withCount(200)},
		{"followed by text", append(bytes.Clone(pack), "and more"...)},
		{"no pack in a bundle", []byte("# v2 git bundle\n\n")},
		{"loose", loose[0][:len(loose[0])-6]},
	}
	for _, test := range tests {
		left := int64(plenty)
		if err := gitobjects.Read(test.content, &left, func(gitobjects.Object) {}); !expected(err) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for _, content := range [][]byte{pack, loose[0]} {
		left := int64(20)
		if err := gitobjects.Read(content, &left, func(gitobjects.Object) {}); !errors.Is(err, domarkx.ErrUnsupported) {
			t.Errorf("with little space: %v", err)
		}
	}
}

func TestRecognized(t *testing.T) {
	for _, content := range []string{"", "PACK", "PACKAGE", "x\x9c", "\x78\x9c\x4b\x4c\x04\x00\x01\x23", "# v2 git", "blob 3\x00abc"} {
		if gitobjects.Recognized([]byte(content)) {
			t.Errorf("%q is recognized", content)
		}
	}
}

func FuzzRead(f *testing.F) {
	r := newRepository(f, "sha1")
	r.write("a", strings.Repeat("some text\n", 100))
	r.git("add", ".")
	r.git("commit", "-qm", "m")
	f.Add(files(f, r.dir, ".git/objects/??/*")[0])
	r.write("a", strings.Repeat("some text\n", 100)+"more")
	r.git("commit", "-qam", "m")
	r.git("gc", "-q")
	r.git("bundle", "create", "-q", "b", "main^..main")
	f.Add(files(f, r.dir, ".git/objects/pack/*.pack")[0])
	f.Add(files(f, r.dir, "b")[0])
	f.Fuzz(func(t *testing.T, content []byte) {
		const limit = 1 << 20
		left, total := int64(limit), 0
		err := gitobjects.Read(content, &left, func(o gitobjects.Object) { total += len(o.Content) })
		if err != nil && !expected(err) {
			t.Error(err)
		}
		if total > limit+2*len(content)+1<<20 {
			t.Errorf("%d bytes were read", total)
		}
	})
}
