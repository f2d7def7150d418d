package version_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/version"
)

func TestVersionWriterRefuses(t *testing.T) {
	s, _ := newStore(t)
	a := regular("a", "1")
	for name, files := range map[string][]versionFile{
		"no top":                   {a},
		"two tops":                 {top(), top()},
		"top is a file":            {regular("", "x")},
		"no directory":             {top(), regular("d/a", "x")},
		"file as a directory":      {top(), a, regular("a/b", "x")},
		"directory was left":       {top(), directory("d"), directory("e"), regular("d/a", "x")},
		"twice":                    {top(), a, a},
		"file and directory":       {top(), a, directory("a")},
		"dot dot":                  {top(), directory("..")},
		"dot":                      {top(), regular("./a", "x")},
		"absolute":                 {top(), regular("/a", "x")},
		"no name":                  {top(), directory("d"), regular("d/", "x")},
		"NUL":                      {top(), regular("a\x00", "x")},
		"long name":                {top(), regular(strings.Repeat("n", 1025), "x")},
		"mode":                     {top(), a.mode(0o10644)},
		"socket":                   {top(), {Path: "s", File: domarkx.File{Type: domarkx.BlockDevice + 1}}},
		"no type":                  {top(), {Path: "s"}},
		"no id":                    {top(), {Path: "s", File: domarkx.File{Type: domarkx.Regular, ID: "x"}}},
		"NUL in a target":          {top(), symlink("l", "a\x00b")},
		"target":                   {top(), symlink("l", strings.Repeat("x", 64<<10+1))},
		"xattr twice":              {top(), a.xattr("user.a", "1").xattr("user.a", "2")},
		"xattr without name":       {top(), a.xattr("", "1")},
		"xattr size":               {top(), a.xattr("user.a", strings.Repeat("x", 64<<10+1))},
		"hard link to itself":      {top(), a.link("a")},
		"hard link to nothing":     {top(), a.link("b")},
		"hard link outside":        {top(), a, a.at("../a").link("b")},
		"hard link to a directory": {top(), directory("d"), a.at("d").link("b")},
		"hard link of a directory": {top(), directory("d"), directory("d").link("e")},
		"hard link to the other":   {top(), a, regular("a", "2").link("b")},
		"hard link, other mode":    {top(), a, a.mode(0o600).link("b")},
		"hard link below a file":   {top(), a, a.at("a/c").link("b")},
	} {
		b := begin(t, s, "")
		var err error
		for _, f := range files {
			if err = f.add(b); err != nil {
				break
			}
		}
		if err == nil {
			_, err = b.Finish(context.Background())
		}
		if !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%s: %v, want it to be refused", name, err)
		}
		b.Abort()
	}
}

func TestVersionOfMissingContent(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	for _, id := range []string{strings.Repeat("12", 20), strings.Repeat("12", 20) + "+" + strings.Repeat("34", 20)} {
		b := begin(t, s, "")
		if err := top().add(b); err != nil {
			t.Fatal(err)
		}
		f := regular("a", "again")
		f.ID = id
		if err := f.add(b); !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("%s: %v, want not found", id, err)
		}
		f.ID = ""
		if err := f.add(b); err != nil {
			t.Fatal(err)
		}
		version := finish(t, b)
		if got := readVersion(t, s, version); len(got) != 2 || got[1].Data != "again" {
			t.Errorf("read %+v", got)
		}
	}
	if _, err := s.Begin(ctx, strings.Repeat("12", 20)); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("a base that is nowhere: %v", err)
	}
	// Content of an earlier, unreachable version must survive a collection.
	large := strings.Repeat("0123456789abcdef", 17<<16)
	first := writeVersion(t, s, "", top(), regular("a", "unreached"), regular("b", large), symlink("l", "unreached, too"))
	b := begin(t, s, "")
	for _, f := range readVersion(t, s, first) {
		f.Target = ""
		if err := b.Add(ctx, f.Path, f.File); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "repack", "-adq")
	git(t, dir, "prune", "--expire=now")
	second, err := b.Finish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, "update-ref", "refs/domarkx/workspaces/w", git(t, dir, "commit-tree", "-m", "x", second))
	if err := b.Settle(); err != nil {
		t.Fatal(err)
	}
	if second != first {
		t.Errorf("copied, %s is %s", first, second)
	}
	acceptable(t, dir)
	b.Abort()
}

// objectFiles returns the number of objects and the size of the files that contain them in bytes.
func objectFiles(t *testing.T, dir string) (objects int, size int64) {
	t.Helper()
	objects = strings.Count(git(t, dir, "cat-file", "--batch-all-objects", "--unordered", "--batch-check"), "\n") + 1
	err := filepath.WalkDir(filepath.Join(dir, "objects"), func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return objects, size
}

func TestSmallChangeIsSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("it stores 40 MB several times; run the tests without -short")
	}
	s, dir := newStore(t)
	random := rand.NewChaCha8([32]byte{1})
	large := make([]byte, 20<<20)
	random.Read(large)
	files := []versionFile{top(), regular("large", string(large)), directory("many")}
	for i := range 3000 {
		files = append(files, regular(fmt.Sprintf("many/%05d", i), fmt.Sprint(i)).mode(uint32(0o600+i%8)))
	}
	base := writeVersion(t, s, "", files...)
	for _, tt := range []struct {
		name    string
		change  func()
		objects int
		size    int64
	}{
		{"nothing", func() {}, 0, 0},
		{"a file among many", func() { files[100].Data = "changed" }, 3, 100 << 10},
		{"a mode among many", func() { files[100].Mode = 0o7777 }, 3, 130 << 10},
		{"a byte of a large file", func() { large[10<<20] ^= 1; files[1].Data = string(large) }, 8, 600 << 10},
	} {
		objects, size := objectFiles(t, dir)
		ids := map[string]string{}
		for _, f := range readVersion(t, s, base) {
			ids[f.Path] = f.ID
		}
		before := slices.Clone(files)
		tt.change()
		b := begin(t, s, base)
		for i, f := range files {
			if f.Type == domarkx.Regular && f.Data == before[i].Data {
				f.ID = ids[f.Path]
			}
			if err := f.add(b); err != nil {
				t.Fatal(err)
			}
		}
		base = finish(t, b)
		moreObjects, moreSize := objectFiles(t, dir)
		if moreObjects-objects > tt.objects || moreSize-size > tt.size {
			t.Errorf("%s: %d new objects in %d bytes, want at most %d in %d", tt.name, moreObjects-objects, moreSize-size, tt.objects, tt.size)
		}
		if diff := sameFiles(files, readVersion(t, s, base)); diff != "" {
			t.Errorf("%s: written and read differ: %s", tt.name, diff)
		}
	}
	// Storing all contents again, as after the loss of a stat cache, writes nothing: the base has them.
	_, size := objectFiles(t, dir)
	if again := writeVersion(t, s, base, files...); again != base {
		t.Errorf("again it is %s, not %s", again, base)
	}
	if _, more := objectFiles(t, dir); more-size > 100<<10 {
		t.Errorf("known contents take %d bytes", more-size)
	}
}

// TestContentsOfTheBase stores known contents again, few but large, as after a change that stat does
// not show.
func TestContentsOfTheBase(t *testing.T) {
	s, dir := newStore(t)
	data := make([]byte, 6<<20)
	rand.NewChaCha8([32]byte{1}).Read(data)
	files := []versionFile{top(), regular("one", string(data)), regular("two", string(data[1:]))}
	base := writeVersion(t, s, "", files...)
	_, size := objectFiles(t, dir)
	if again := writeVersion(t, s, base, files...); again != base {
		t.Errorf("again it is %s, not %s", again, base)
	}
	if _, more := objectFiles(t, dir); more != size {
		t.Errorf("known contents take %d bytes", more-size)
	}
	// So few bytes that the list of the base's contents is not read.
	files = append(files, regular("small", string(data[:100_000])))
	base = writeVersion(t, s, base, files...)
	_, size = objectFiles(t, dir)
	for i := range 3 {
		few := []versionFile{top(), regular("new", fmt.Sprint(i)), files[3]}
		base = writeVersion(t, s, base, few...)
		if _, more := objectFiles(t, dir); more-size > 5000*int64(i+1) {
			t.Errorf("a known content takes %d bytes", more-size)
		}
		if diff := sameFiles(few, readVersion(t, s, base)); diff != "" {
			t.Errorf("written and read differ: %s", diff)
		}
	}
}

func TestContentsFromManyGoroutines(t *testing.T) {
	s, _ := newStore(t)
	b := begin(t, s, "")
	files := []versionFile{top()}
	many := 400
	if testing.Short() {
		many = 100
	}
	for i := range many {
		files = append(files, regular(fmt.Sprintf("%04d", i), strings.Repeat(fmt.Sprint(i%100), i*50)))
	}
	files[7].Data = strings.Repeat("x", 20<<20)
	var group sync.WaitGroup
	for i := range files[1:] {
		f := &files[i+1]
		group.Go(func() {
			id, size, err := b.Content(context.Background(), strings.NewReader(f.Data))
			if err != nil || size != int64(len(f.Data)) {
				t.Errorf("content of %s: %d bytes, %v", f.Path, size, err)
			}
			f.ID = id
		})
	}
	group.Wait()
	for _, f := range files {
		if err := f.add(b); err != nil {
			t.Fatal(err)
		}
	}
	version := finish(t, b)
	read := readVersion(t, s, version)
	if diff := sameFiles(files, read); diff != "" {
		t.Errorf("written and read differ: %.1000s", diff)
	}
	for i, f := range read {
		if f.Type == domarkx.Regular && (f.Size != int64(len(f.Data)) || f.ID != files[i].ID) {
			t.Errorf("%s: size %d, id %s, want %d, %s", f.Path, f.Size, f.ID, len(f.Data), files[i].ID)
		}
	}
}

func TestContentErrors(t *testing.T) {
	s, dir := newStore(t)
	ctx, cancel := context.WithCancel(context.Background())
	b := begin(t, s, "")
	broken := errors.New("broken")
	if _, _, err := b.Content(ctx, io.MultiReader(strings.NewReader("x"), brokenReader{broken})); !errors.Is(err, broken) {
		t.Errorf("a broken reader: %v", err)
	}
	if _, _, err := b.Content(ctx, io.MultiReader(bytes.NewReader(make([]byte, 17<<20)), brokenReader{broken})); !errors.Is(err, broken) {
		t.Errorf("a large broken reader: %v", err)
	}
	cancel()
	if _, _, err := b.Content(ctx, strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	if err := b.Add(ctx, "", top().File); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	b.Abort()
	if objects, err := filepath.Glob(filepath.Join(dir, "objects", "*", "*")); len(objects) > 0 || err != nil {
		t.Errorf("an aborted batch left %v, %v", objects, err)
	}
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

func TestReadVersionErrors(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	version := writeVersion(t, s, "", top(), regular("a", "x"))
	commit := git(t, dir, "commit-tree", "-m", "x", version)
	blob := readVersion(t, s, version)[1].ID
	nothing := strings.Repeat("12", 20)
	for _, tt := range []struct {
		id      string
		content bool
		want    error
	}{
		{nothing, false, domarkx.ErrNotFound}, {nothing, true, domarkx.ErrNotFound}, {nothing + "+" + nothing, true, domarkx.ErrNotFound},
		{"x", false, domarkx.ErrInvalid}, {"x", true, domarkx.ErrInvalid}, {blob + "+x", true, domarkx.ErrInvalid},
		{commit, false, domarkx.ErrCorrupt}, {version, true, domarkx.ErrCorrupt}, {blob, false, domarkx.ErrCorrupt}, {blob + "+" + version, true, domarkx.ErrCorrupt},
	} {
		_, err := s.Directory(ctx, tt.id)
		if tt.content {
			_, err = s.Content(ctx, tt.id)
		}
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.id, err, tt.want)
		}
	}
}

func TestDiffVersions(t *testing.T) {
	s, _ := newStore(t)
	ctx := context.Background()
	a := writeVersion(t, s, "", top(), directory("gone"), regular("gone/x", "1"), directory("mode"), regular("mode/x", "1"),
		directory("same"), regular("same/x", "1"), regular("turns", "1"), regular("y", "1"), regular("z", "1"))
	b := writeVersion(t, s, a, top().mode(0o700), directory("mode").mode(0o700), regular("mode/x", "1"), directory("new"), regular("new/x", "1"),
		directory("same"), regular("same/x", "1"), directory("turns"), regular("turns/x", "1"), regular("y", "2"), regular("z", "1").mode(0o600))
	list := func(a, b string) (changes []string) {
		t.Helper()
		err := s.DiffVersions(ctx, a, b, func(path string, old, new *domarkx.File) error {
			what := "~"
			if old == nil {
				what = "+"
			} else if new == nil {
				what = "-"
			}
			changes = append(changes, what+path)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return changes
	}
	want := []string{"~", "-gone", "-gone/x", "~mode", "+new", "+new/x", "~turns", "+turns/x", "~y", "~z"}
	if diff := gocmp.Diff(want, list(a, b)); diff != "" {
		t.Errorf("the difference is %s", diff)
	}
	if got := list(b, b); got != nil {
		t.Errorf("equal versions differ: %v", got)
	}
	if got := list("", a); len(got) != 10 || got[0] != "+" {
		t.Errorf("from nothing: %v", got)
	}
	stop := errors.New("stop")
	if err := s.DiffVersions(ctx, a, "", func(string, *domarkx.File, *domarkx.File) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
	if err := s.DiffVersions(ctx, a, strings.Repeat("12", 20), nil); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("a version that is nowhere: %v", err)
	}
}

var _ interface {
	domarkx.VersionWriter
	Finish(context.Context) (string, error)
	Settle() error
	Abort()
} = (*version.Writer)(nil)

// TestContentInParts checks that a change of a file that is stored in chunks costs little, even if the
// file is small.
func TestContentInParts(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	random := rand.NewChaCha8([32]byte{2})
	data := make([]byte, 3<<20)
	random.Read(data)
	write := func(base string, data []byte) string {
		t.Helper()
		b := begin(t, s, base)
		if err := top().add(b); err != nil {
			t.Fatal(err)
		}
		id, size, err := b.ContentInParts(ctx, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(ctx, "data", domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size}); err != nil {
			t.Fatal(err)
		}
		return finish(t, b)
	}
	first := write("", data)
	_, before := objectFiles(t, dir)
	data[1<<20] ^= 1
	second := write(first, data)
	if _, after := objectFiles(t, dir); after-before > 600<<10 {
		t.Errorf("a changed byte costs %d bytes", after-before)
	}
	data[1<<20] ^= 1
	if again := write(second, data); again != first {
		t.Errorf("the same again is %s, not %s", again, first)
	}
	want := []versionFile{top(), regular("data", string(data))}
	if diff := sameFiles(want, readVersion(t, s, first)); diff != "" {
		t.Errorf("written and read differ: %s", diff)
	}
	// The id can be used in another version, like that of content in one blob.
	b := begin(t, s, "")
	files := readVersion(t, s, first)
	for _, f := range files {
		if err := b.Add(ctx, f.Path, f.File); err != nil {
			t.Fatal(err)
		}
	}
	if copied := finish(t, b); copied != first {
		t.Errorf("copied by its id it is %s, not %s", copied, first)
	}
	if small, whole := write("", data[:1000]), writeVersion(t, s, "", top(), regular("data", string(data[:1000]))); small != whole {
		t.Errorf("a small one in parts is %s, expected one blob as in %s", small, whole)
	}
	git(t, dir, "update-ref", "refs/domarkx/workspaces/w", git(t, dir, "commit-tree", "-m", "x", first))
	acceptable(t, dir)
}
