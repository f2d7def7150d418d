package version_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/domarkx/domarkx/gitstore/version"
)

// hostileTrees writes objects that no version contains.
type hostileTrees struct {
	t     *testing.T
	batch *odb.Batch
}

func newHostileTrees(t *testing.T, dir string) hostileTrees {
	t.Helper()
	db, err := odb.Open(dir+"/objects", oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	h := hostileTrees{t, db.Begin()}
	t.Cleanup(h.batch.Abort)
	return h
}

func (h hostileTrees) blob(data string) odb.ID {
	id, err := h.batch.Add(odb.Blob, []byte(data))
	if err != nil {
		h.t.Fatal(err)
	}
	return id
}

// tree writes the entries without checking them.
func (h hostileTrees) tree(entries ...odb.TreeEntry) odb.ID {
	var data []byte
	for _, e := range entries {
		mode := map[uint32]string{odb.ModeFile: "100644", odb.ModeExecutable: "100755", odb.ModeSymlink: "120000", odb.ModeTree: "40000", odb.ModeSubmodule: "160000"}[e.Mode]
		if mode == "" {
			mode = "100664"
		}
		data = append(append(append(data, mode+" "+e.Name...), 0), e.ID.Bytes()...)
	}
	id, err := h.batch.Add(odb.Tree, data)
	if err != nil {
		h.t.Fatal(err)
	}
	return id
}

func TestHostileDirectories(t *testing.T) {
	s, dir := newStore(t)
	h := newHostileTrees(t, dir)
	x := h.blob("x")
	entry := func(mode uint32, name string) odb.TreeEntry { return odb.TreeEntry{Mode: mode, Name: name, ID: x} }
	file := func(name string) odb.TreeEntry { return entry(odb.ModeFile, name) }
	sidecar := func(text string) odb.TreeEntry {
		return odb.TreeEntry{Mode: odb.ModeFile, Name: ".domarkx", ID: h.blob(text)}
	}
	empty := h.tree()
	trees := map[string]odb.ID{
		"empty tree":             empty,
		"order":                  h.tree(file("b"), file("a")),
		"twice":                  h.tree(file("a"), file("a")),
		"file and directory":     h.tree(file("a"), file("a.b"), odb.TreeEntry{Mode: odb.ModeTree, Name: "a", ID: empty}),
		"hidden and not":         h.tree(odb.TreeEntry{Mode: odb.ModeTree, Name: ".domarkx-.git", ID: empty}, file(".git")),
		"not hidden":             h.tree(file(".GITmodules")),
		"hidden without need":    h.tree(file(".domarkx-a")),
		"hidden dot dot":         h.tree(file(".domarkx-..")),
		"hidden slash":           h.tree(file(".domarkx-..%2F.git")),
		"hidden NUL":             h.tree(file(".domarkx-.git%00")),
		"hidden lower case":      h.tree(file(".domarkx-.git%3aa")),
		"hidden nothing":         h.tree(file(".domarkx-")),
		"reserved":               h.tree(file(".domarkxy")),
		"submodule":              h.tree(entry(odb.ModeSubmodule, "a")),
		"old mode":               h.tree(entry(0, "a")),
		"long name":              h.tree(file(strings.Repeat("n", 1025))),
		"chunks of nothing":      h.tree(odb.TreeEntry{Mode: odb.ModeTree, Name: ".domarkx+a", ID: empty}),
		"chunks in a file":       h.tree(file(".domarkx+a"), file("a")),
		"chunks of others":       h.tree(odb.TreeEntry{Mode: odb.ModeTree, Name: ".domarkx+a", ID: empty}, file("a")),
		"sidecar directory":      h.tree(odb.TreeEntry{Mode: odb.ModeTree, Name: ".domarkx", ID: empty}),
		"needless sidecar":       h.tree(sidecar("domarkx-folder 1\n"), file("a")),
		"empty sidecar":          h.tree(sidecar("")),
		"no line end":            h.tree(sidecar("domarkx-folder 1")),
		"later format":           h.tree(sidecar("domarkx-directory 2\n")),
		"unknown flag":           h.tree(sidecar("domarkx-folder 1 times=1\n")),
		"no file":                h.tree(sidecar("domarkx-folder 1\na mode=600\n")),
		"default in row":         h.tree(sidecar("domarkx-folder 1\na mode=644\n"), file("a")),
		"wrong default":          h.tree(sidecar("domarkx-folder 1\na mode=600\n"), file("a")),
		"mode":                   h.tree(sidecar("domarkx-folder 1 file=10000\n"), file("a")),
		"leading zero":           h.tree(sidecar("domarkx-folder 1 file=0600\n"), file("a")),
		"executable mode":        h.tree(sidecar("domarkx-folder 1 exec=644\n"), entry(odb.ModeExecutable, "a")),
		"mode of the other":      h.tree(sidecar("domarkx-folder 1 file=755\n"), file("a")),
		"row twice":              h.tree(sidecar("domarkx-folder 1\na type=fifo\na type=fifo\n")),
		"row order":              h.tree(sidecar("domarkx-folder 1\nb type=fifo\na type=fifo\n")),
		"row for dot dot":        h.tree(sidecar("domarkx-folder 1\n.. type=fifo\n")),
		"row for a path":         h.tree(sidecar("domarkx-folder 1\na%2Fb type=fifo\n")),
		"type twice":             h.tree(sidecar("domarkx-folder 1\na type=fifo type=fifo\n")),
		"type of a file":         h.tree(sidecar("domarkx-folder 1\na type=fifo\n"), file("a")),
		"type of a link":         h.tree(sidecar("domarkx-folder 1\na type=symlink\n"), entry(odb.ModeSymlink, "a")),
		"link to nothing":        h.tree(sidecar("domarkx-folder 1\na type=symlink\n")),
		"device number":          h.tree(sidecar("domarkx-folder 1\na type=char:4294967296:0\n")),
		"hard link outside":      h.tree(sidecar("domarkx-folder 1\na link=../x\n"), file("a")),
		"absolute hard link":     h.tree(sidecar("domarkx-folder 1\na link=/etc/passwd\n"), file("a")),
		"hard link to directory": h.tree(sidecar("domarkx-folder 1\na link=b\n"), odb.TreeEntry{Mode: odb.ModeTree, Name: "a", ID: empty}),
		"xattr order":            h.tree(sidecar("domarkx-folder 1\na xattr=user.b: xattr=user.a:\n"), file("a")),
		"xattr twice":            h.tree(sidecar("domarkx-folder 1\na xattr=user.a: xattr=user.a:\n"), file("a")),
		"xattr without name":     h.tree(sidecar("domarkx-folder 1\na xattr=:\n"), file("a")),
		"xattr spelling":         h.tree(sidecar("domarkx-folder 1\na xattr=user.a:AB\n"), file("a")),
		"large in one piece":     h.tree(odb.TreeEntry{Mode: odb.ModeFile, Name: "a", ID: h.blob(strings.Repeat("x", chunked.Threshold+1))}),
		"tree as a file":         h.tree(odb.TreeEntry{Mode: odb.ModeFile, Name: "a", ID: empty}),
		"sidecar bomb":           h.tree(sidecar("domarkx-folder 1\n" + strings.Repeat("a", 64<<20))),
	}
	if err := h.batch.Sync(); err != nil {
		t.Fatal(err)
	}
	for name, tree := range trees {
		t.Run(name, func(t *testing.T) {
			if files, err := s.Directory(context.Background(), tree.String()); !errors.Is(err, domarkx.ErrCorrupt) {
				t.Errorf("%v, %v; want it to be refused", files, err)
			}
		})
	}
}

func TestDeepVersion(t *testing.T) {
	s, dir := newStore(t)
	h := newHostileTrees(t, dir)
	id := h.tree(odb.TreeEntry{Mode: odb.ModeFile, Name: "f", ID: h.blob("f")})
	for range 3000 {
		id = h.tree(odb.TreeEntry{Mode: odb.ModeTree, Name: "d", ID: id})
	}
	if err := h.batch.Sync(); err != nil {
		t.Fatal(err)
	}
	err := s.DiffVersions(context.Background(), "", id.String(), func(string, *domarkx.File, *domarkx.File) error { return nil })
	if !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("walking a very deep tree: %v", err)
	}
	b := begin(t, s, "")
	path := ""
	for depth := range 1002 {
		f := directory(path)
		if err := f.add(b); err != nil {
			if depth != 1001 || !errors.Is(err, domarkx.ErrInvalid) {
				t.Errorf("directory %d deep: %v", depth, err)
			}
			return
		}
		path = strings.TrimPrefix(path+"/d", "/")
	}
	t.Error("a very deep directory was taken")
}

// TestNamesThatHostsKnow stores files under disguised forms of names with a special meaning for Git or
// hosts, with contents and targets that they would reject.
func TestNamesThatHostsKnow(t *testing.T) {
	s, dir := newStore(t)
	bad := "[submodule \"../../x\"]\n\tpath = -x\n\turl = -u\n\tupdate = !touch x\n" + strings.Repeat("y", 5000)
	seen := map[string]bool{}
	var files []versionFile
	for _, name := range []string{".git", ".gitmodules", ".gitattributes", ".gitignore", ".mailmap", "git~1", "git~2", "gitmod~1", "gitatt~4", "gitign~1",
		"mailma~2", "gi7eba~1", "gi7eb~10", "gi7~1000", "~1000000", "gi7d29~9", "gi250a~1", "maba30~1", "maba3~12", "GIT~1", ".Git", ".GITMODULES", ".g\u200cit", "\ufeff.gitmodules", "\u206f.gitattributes"} {
		for _, end := range []string{"", " ", ".", " . ", ":x", `\x`, "\xff", "\u200e", ".x"} {
			for _, start := range []string{"", `x\`} {
				if path := start + name + end; !seen[path] {
					seen[path] = true
					files = append(files, regular("files/"+path, bad), symlink("links/"+path, "x/"+path))
				}
			}
		}
	}
	files = inWalkOrder(append(files, top(), directory("files"), directory("links")))
	version := writeVersion(t, s, "", files...)
	if diff := sameFiles(files, readVersion(t, s, version)); diff != "" {
		t.Errorf("written and read differ: %s", diff)
	}
	git(t, dir, "update-ref", "refs/domarkx/workspaces/w", git(t, dir, "commit-tree", "-m", "x", version))
	acceptable(t, dir)
}

func FuzzVersionName(f *testing.F) {
	for _, name := range []string{"a", ".git", "git~1", ".gitmodules ", ".g\u200cit", ".git\xff", `a\.git`, ".domarkx", "%", "\x80"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		escaped := version.EscapeName(name)
		again, err := version.UnescapeName(escaped)
		if valid := version.CheckName(name) == nil; valid != (err == nil) || valid && again != name {
			t.Fatalf("%q is escaped as %q, read as %q, %v", name, escaped, again, err)
		}
		if err == nil {
			for _, link := range []bool{true, false} {
				if err := odb.CheckName(version.TreeName(name, link)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if again, err := version.UnescapeName(name); err == nil && version.EscapeName(again) != name {
			t.Fatalf("%q has two spellings", again)
		}
	})
}

func FuzzSidecar(f *testing.F) {
	id := func(b byte) odb.ID { return oid.FromBytes(bytes.Repeat([]byte{b}, 20)) }
	entries := []odb.TreeEntry{
		{Mode: odb.ModeFile, Name: ".domarkx", ID: id(1)},
		{Mode: odb.ModeTree, Name: ".domarkx+e", ID: id(2)},
		{Mode: odb.ModeTree, Name: ".domarkx-.git", ID: id(3)},
		{Mode: odb.ModeFile, Name: "a", ID: id(4)},
		{Mode: odb.ModeExecutable, Name: "b", ID: id(5)},
		{Mode: odb.ModeSymlink, Name: "c", ID: id(6)},
		{Mode: odb.ModeTree, Name: "d", ID: id(7)},
		{Mode: odb.ModeFile, Name: "e", ID: id(8)},
	}
	for _, text := range []string{
		"domarkx-folder 1 file=600 exec=700 folder=2775 owner=0:5\n. mode=700 owner=0:0 xattr=user.a:AA\n.git mode=700\na link=x/y%20z\nb owner=-\nz type=char:1:3\n",
		"domarkx-folder 1\na type=symlink\n", "domarkx-folder 1\nf type=fifo\n", "domarkx-folder 1 file=664\n", "domarkx-folder 1\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if data == nil {
			data = []byte{}
		}
		same, err := version.DecodeDirectory(entries, data)
		if err == nil && !same {
			t.Errorf("%q was taken, and is written in another way", data)
		}
		if err != nil && !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%q: %v", data, err)
		}
	})
}
