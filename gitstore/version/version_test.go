package version_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/version"
)

// A versionFile is a file of a test version, with its content.
type versionFile struct {
	Path string
	domarkx.File
	Data string // of a regular file
}

// add adds a file to a version.
func (f versionFile) add(b *version.Writer) error {
	ctx := context.Background()
	if f.Type == domarkx.Regular && f.ID == "" {
		var err error
		if f.ID, f.Size, err = b.Content(ctx, strings.NewReader(f.Data)); err != nil {
			return err
		}
	}
	return b.Add(ctx, f.Path, f.File)
}

// A failer is a *testing.T, *testing.B or *rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// begin starts a version, which is aborted when the test ends.
func begin(tb failer, s version.Reader, base string) *version.Writer {
	tb.Helper()
	b, err := s.Begin(context.Background(), base)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.Abort)
	return b
}

func finish(tb failer, b *version.Writer) string {
	tb.Helper()
	version, err := b.Finish(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	if err := b.Settle(); err != nil {
		tb.Fatal(err)
	}
	return version
}

// writeVersion stores files, which must be in the order of a walk.
func writeVersion(tb failer, s version.Reader, base string, files ...versionFile) string {
	tb.Helper()
	b := begin(tb, s, base)
	for _, f := range files {
		if err := f.add(b); err != nil {
			tb.Fatal(err)
		}
	}
	return finish(tb, b)
}

// readVersion reads all files of a version.
func readVersion(tb failer, s version.Reader, version string) []versionFile {
	tb.Helper()
	ctx := context.Background()
	var files []versionFile
	err := domarkx.WalkVersion(ctx, s, version, func(path string, f domarkx.File) error {
		read := versionFile{Path: path, File: f}
		if f.Type == domarkx.Regular || f.Type == domarkx.Symlink {
			content, err := s.Content(ctx, f.ID)
			if err != nil {
				return err
			}
			defer content.Close()
			data, err := io.ReadAll(io.NewSectionReader(content, 0, content.Size()))
			if err != nil {
				return err
			}
			if f.Type == domarkx.Symlink {
				read.Target = string(data)
			} else {
				read.Data = string(data)
			}
		}
		files = append(files, read)
		return nil
	})
	if err != nil {
		tb.Fatalf("version %s: %v", version, err)
	}
	return files
}

// sameFiles compares written and read files.
func sameFiles(wrote, read []versionFile) string {
	return gocmp.Diff(wrote, read, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(domarkx.File{}, "ID", "Size", "Name"))
}

func top() versionFile {
	return versionFile{File: domarkx.File{Type: domarkx.Directory, Mode: 0o755}}
}

func regular(path, data string) versionFile {
	return versionFile{Path: path, Data: data, File: domarkx.File{Type: domarkx.Regular, Mode: 0o644}}
}

func directory(path string) versionFile {
	return versionFile{Path: path, File: domarkx.File{Type: domarkx.Directory, Mode: 0o755}}
}

func symlink(path, target string) versionFile {
	return versionFile{Path: path, File: domarkx.File{Type: domarkx.Symlink, Mode: 0o777, Target: target}}
}

func (f versionFile) mode(mode uint32) versionFile { f.Mode = mode; return f }

func (f versionFile) owner(uid, gid uint32) versionFile {
	f.HasOwner, f.UID, f.GID = true, uid, gid
	return f
}

func (f versionFile) xattr(name, value string) versionFile {
	f.Xattrs = append(slices.Clone(f.Xattrs), domarkx.Xattr{Name: name, Value: []byte(value)})
	return f
}

// at returns f with another path; link returns a hard link to f.
func (f versionFile) at(path string) versionFile { f.Path = path; return f }
func (f versionFile) link(path string) versionFile {
	f.Path, f.HardLink = path, f.Path
	return f
}

// strangeFiles returns files that Git cannot represent, in the order of a walk by name.
func strangeFiles() []versionFile {
	pointer := "domarkx-large 1\nsize 0\nsha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\nchunks 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
	hard := regular("hard", "linked").owner(0, 0).xattr("security.capability", "\x01\x00")
	return []versionFile{
		top().mode(0o1777).owner(0, 0).xattr("user.top", "yes"),
		regular("\xff\xfe", "not UTF-8").owner(0, 0),
		directory(".git").owner(0, 0),
		regular(".git/HEAD", "ref: refs/heads/main\n").owner(0, 0),
		directory(".git/objects").owner(0, 0).mode(0o700),
		symlink(".git/modules", "../../.git/x").owner(0, 0),
		symlink(".gitattributes", "elsewhere").owner(0, 0),
		symlink(".gitignore", "elsewhere").owner(0, 0),
		symlink(".gitmodules", "elsewhere").owner(0, 0),
		symlink(".mailmap", "elsewhere").owner(0, 0),
		regular(".domarkx", "a user's").owner(0, 0).mode(0o600),
		directory(".domarkx-chunks").owner(0, 0),
		directory("GIT~1").owner(0, 0),
		directory("a").owner(1000, 1000).mode(0o2775),
		regular("a/.GitModules ", "[submodule \"../x\"]\n\tpath = -x\n\turl = -u\n").owner(0, 0),
		regular("a/.gitattributes", strings.Repeat("x", 4000)).owner(0, 0),
		regular("a/.g\u200cit", "HFS").owner(0, 0),
		regular("a/gitmod~1", "NTFS").owner(0, 0),
		regular("a\\.git", "NTFS").owner(0, 0),
		versionFile{Path: "console", File: domarkx.File{Type: domarkx.CharDevice, Mode: 0o600, Major: 5, Minor: 1}}.owner(0, 5),
		versionFile{Path: "disk", File: domarkx.File{Type: domarkx.BlockDevice, Mode: 0o660, Major: 1<<32 - 1, Minor: 1 << 20}}.owner(0, 6),
		directory("empty").owner(0, 0),
		versionFile{Path: "fifo", File: domarkx.File{Type: domarkx.Fifo, Mode: 0o644}}.owner(0, 0),
		hard,
		hard.link("hard2"),
		symlink("into", "a/.git/config").owner(0, 0),
		symlink("long", strings.Repeat("x/", 3000)).owner(0, 0),
		regular("pointer", pointer).owner(0, 0).mode(0o4755),
		regular(strings.Repeat("\u20ac", 300), "900 bytes").owner(0, 0),
	}
}

// inWalkOrder sorts files in the order of a walk by name.
func inWalkOrder(files []versionFile) []versionFile {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b versionFile) int {
		return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
	})
	return files
}

func TestVersionRoundTrip(t *testing.T) {
	s, dir := newStore(t)
	large := string(bytes.Repeat([]byte("0123456789abcdef"), 1<<20))
	for name, files := range map[string][]versionFile{
		"nothing":    {top()},
		"plain":      {top(), directory("bin"), regular("bin/x", "#!/bin/sh\n").mode(0o755), regular("x", "")},
		"umask 002":  {top().mode(0o775), directory("d").mode(0o775), regular("d/x", "1").mode(0o664), regular("y", "2").mode(0o775)},
		"strange":    inWalkOrder(strangeFiles()),
		"large":      {top(), regular(".gitattributes", large), regular("b\\x", large+"x").mode(0o755), regular("c", "y")},
		"only links": {top(), regular("a", "1"), regular("a", "1").link("b"), regular("a", "1").link("c")},
	} {
		version := writeVersion(t, s, "", files...)
		if diff := sameFiles(files, readVersion(t, s, version)); diff != "" {
			t.Errorf("%s: written and read differ: %s", name, diff)
		}
		if again := writeVersion(t, s, version, files...); again != version {
			t.Errorf("%s: written again on top of itself it is %s, not %s", name, again, version)
		}
		if testing.Short() && name == "large" {
			continue // the others are written a third time
		}
		if again := writeVersion(t, s, "", files...); again != version {
			t.Errorf("%s: written again it is %s, not %s", name, again, version)
		}
		commit := git(t, dir, "commit-tree", "-m", name, version)
		git(t, dir, "update-ref", "refs/domarkx/workspaces/"+strings.ReplaceAll(name, " ", "-"), commit)
	}
	acceptable(t, dir)
}

// acceptable checks that git fsck accepts a repository, and that a host accepts all of it.
func acceptable(t *testing.T, dir string) {
	t.Helper()
	if out := git(t, dir, "fsck", "--strict", "--no-dangling", "--no-progress"); out != "" {
		t.Errorf("git fsck says %s", out)
	}
	host := newRepository(t)
	git(t, host, "config", "receive.fsckObjects", "true")
	git(t, host, "config", "transfer.fsckObjects", "true")
	git(t, dir, "push", "-q", host, "refs/domarkx/*:refs/domarkx/*")
	for ref := range strings.SplitSeq(git(t, dir, "for-each-ref", "--format=%(refname)"), "\n") {
		git(t, host, "rev-list", "--objects", ref)
	}
	work := t.TempDir()
	git(t, work, "clone", "-q", host, ".")
	git(t, work, "fetch", "-q", "origin", "refs/domarkx/*:refs/domarkx/*")
}

// shuffled returns the files in the order of a walk with another order of the names in each directory.
func shuffled(files []versionFile, r *rand.Rand) []versionFile {
	rank := map[string]int{}
	for _, i := range r.Perm(len(files)) {
		rank[files[i].Path] = len(rank)
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b versionFile) int {
		if a.Path == "" || b.Path == "" {
			return cmp.Compare(len(a.Path), len(b.Path))
		}
		x, y := strings.Split(a.Path, "/"), strings.Split(b.Path, "/")
		for i := range min(len(x), len(y)) {
			if x[i] != y[i] {
				return cmp.Compare(rank[strings.Join(x[:i+1], "/")], rank[strings.Join(y[:i+1], "/")])
			}
		}
		return len(x) - len(y)
	})
	return files
}

// drawFiles returns random files in the order of a walk by name.
func drawFiles(t *rapid.T) []versionFile {
	names := rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("ab.~%A0 ")), 1, 3, -1),
		rapid.SampledFrom([]string{".git", ".GIT", "git~1", ".gitmodules", ".domarkx", ".domarkx-x", ".domarkx+x", "\xff", "é", "x y\n"}),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 1, 6).Draw(t, "bytes")) }),
	).Filter(func(name string) bool { return name != "." && name != ".." && !strings.ContainsAny(name, "/\x00") })
	modes := rapid.OneOf(rapid.SampledFrom([]uint32{0o644, 0o755, 0o600}), rapid.Uint32Range(0, 0o7777))
	owned := rapid.Bool().Draw(t, "owned")
	attributes := func(f *domarkx.File) {
		f.Mode = modes.Draw(t, "mode")
		if owned && rapid.IntRange(0, 9).Draw(t, "has owner") > 0 {
			f.HasOwner, f.UID, f.GID = true, rapid.Uint32Range(0, 2).Draw(t, "uid"), rapid.Uint32Range(0, 1).Draw(t, "gid")
		}
		if rapid.IntRange(0, 9).Draw(t, "has xattrs") == 0 {
			f.Xattrs = []domarkx.Xattr{{Name: "user.a b", Value: rapid.SliceOf(rapid.Byte()).Draw(t, "value")}, {Name: "user.ü:", Value: nil}}
		}
	}
	start := top()
	attributes(&start.File)
	files := []versionFile{start}
	seen := map[string]bool{}
	directories := []string{""}
	var linkable []versionFile
	for range rapid.IntRange(0, 30).Draw(t, "files") {
		path := names.Draw(t, "name")
		if in := rapid.SampledFrom(directories).Draw(t, "directory"); in != "" {
			path = in + "/" + path
		}
		if seen[path] {
			continue
		}
		seen[path] = true
		f := versionFile{Path: path}
		f.Type = domarkx.FileType(rapid.IntRange(int(domarkx.Regular), int(domarkx.BlockDevice)).Draw(t, "type"))
		attributes(&f.File)
		switch f.Type {
		case domarkx.Directory:
			directories = append(directories, path)
		case domarkx.Regular:
			f.Data = rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "data")
		case domarkx.Symlink:
			f.Target = rapid.SampledFrom([]string{"x", "", "a/.git", "\xff"}).Draw(t, "target")
		case domarkx.CharDevice, domarkx.BlockDevice:
			f.Major = rapid.Uint32().Draw(t, "major")
		}
		if f.Type != domarkx.Directory && len(linkable) > 0 && rapid.IntRange(0, 3).Draw(t, "linked") == 0 {
			f = rapid.SampledFrom(linkable).Draw(t, "to").link(path)
		} else if f.Type != domarkx.Directory {
			linkable = append(linkable, f)
		}
		files = append(files, f)
	}
	files = inWalkOrder(files)
	linkToFirst(files)
	return files
}

// linkToFirst makes hard links refer to the first name of a file.
func linkToFirst(files []versionFile) {
	first := map[string]string{}
	for i := range files {
		f := &files[i]
		group := cmp.Or(f.HardLink, f.Path)
		if f.HardLink = first[group]; f.HardLink == "" {
			first[group] = f.Path
		}
	}
}

func TestVersionProperties(t *testing.T) {
	s, dir := newStore(t)
	var versions []string
	gittest.Checks(t, 30)
	rapid.Check(t, func(rt *rapid.T) {
		files := drawFiles(rt)
		version := writeVersion(rt, s, "", files...)
		if diff := sameFiles(files, readVersion(rt, s, version)); diff != "" {
			rt.Fatalf("written and read differ: %s", diff)
		}
		other := shuffled(files, rand.New(rand.NewPCG(1, rapid.Uint64().Draw(rt, "order"))))
		base := ""
		if len(versions) > 0 {
			base = rapid.SampledFrom(versions).Draw(rt, "base")
		}
		if again := writeVersion(rt, s, base, other...); again != version {
			rt.Fatalf("in another order, on base %q, it is %s, not %s", base, again, version)
		}
		var last string
		err := s.DiffVersions(context.Background(), version, version, func(path string, _, _ *domarkx.File) error { last = path; return errors.New("differs") })
		if err != nil {
			rt.Fatalf("it differs from itself at %q: %v", last, err)
		}
		versions = append(versions, version)
	})
	var refs bytes.Buffer
	slices.Sort(versions)
	for _, version := range slices.Compact(versions) {
		refs.WriteString("update refs/domarkx/workspaces/" + version + " " + version + "\n")
	}
	cmd := exec.Command("git", "update-ref", "--stdin")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, gittest.Env(), &refs
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	acceptable(t, dir)
}
