package gitstore_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// keepFiles creates a snapshot that continues another one with these files, given as path and content.
func keepFiles(tb testing.TB, s *gitstore.Store, base string, files map[string]string) domarkx.Info {
	tb.Helper()
	var info domarkx.Info
	update(tb, s, func(tx *gitstore.Tx) (err error) {
		if info, err = commitFiles(tx, base, files); err != nil {
			return err
		}
		return tx.Set(context.Background(), "at-"+info.ID, info.ID)
	})
	return info
}

func commitFiles(tx *gitstore.Tx, base string, files map[string]string) (domarkx.Info, error) {
	ctx := context.Background()
	c := commitOf(&domarkx.State{}, base)
	for path, content := range files {
		blob, sum, err := tx.StoreAttachment(ctx, strings.NewReader(content))
		if err != nil {
			return domarkx.Info{}, err
		}
		c.Attachments = append(c.Attachments, domarkx.Attachment{SHA256: sum, Blob: blob})
		c.Files = append(c.Files, domarkx.AttachedFile{Path: path, SHA256: sum})
	}
	return tx.Append(ctx, c)
}

func mergeFiles(tx *gitstore.Tx, left, right string) (domarkx.Info, error) {
	ctx := context.Background()
	a, err := tx.Load(ctx, left)
	if err != nil {
		return domarkx.Info{}, err
	}
	b, err := tx.Load(ctx, right)
	if err != nil {
		return domarkx.Info{}, err
	}
	return tx.Commit(ctx, commitOf(domarkx.MergeStates(a, b), left, right))
}

// contents returns the files of a snapshot by path.
func contents(tb testing.TB, s *gitstore.Store, snapshot string) map[string]string {
	tb.Helper()
	files, err := s.Files(context.Background(), snapshot)
	if err != nil {
		tb.Fatal(err)
	}
	found := map[string]string{}
	for i, f := range files {
		if i > 0 && files[i-1].Path >= f.Path {
			tb.Errorf("files are not in order: %+v", files)
		}
		content, err := s.Attachment(context.Background(), snapshot, f.SHA256)
		if err != nil {
			tb.Fatal(err)
		}
		data := make([]byte, content.Size())
		if _, err := content.ReadAt(data, 0); err != nil && content.Size() > 0 {
			tb.Fatal(err)
		}
		if err := content.Close(); err != nil {
			tb.Error(err)
		}
		if f.Size != int64(len(data)) {
			tb.Errorf("%s: size %d, want %d", f.Path, f.Size, len(data))
		}
		found[f.Path] = string(data)
	}
	return found
}

func TestFilesByPath(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	big := strings.Repeat("0123456789abcdef", 17<<16)
	for _, messages := range []int{0, 1, 16, 17} {
		if testing.Short() && messages < 17 {
			continue
		}
		name := fmt.Sprintf("s%d", messages)
		base := save(t, s, name, conversation(messages))
		if found := contents(t, s, base.ID); len(found) != 0 {
			t.Errorf("a session without files has %v", found)
		}
		first := keepFiles(t, s, base.ID, map[string]string{"shot.png": "one", "img/a b%.png": "two", "big.bin": big, "empty": ""})
		if diff := cmp.Diff(map[string]string{"shot.png": "one", "img/a b%.png": "two", "big.bin": big, "empty": ""}, contents(t, s, first.ID)); diff != "" {
			t.Error(diff)
		}
		if first.Messages != messages || git(t, dir, "rev-parse", first.ID+"^{tree}") == git(t, dir, "rev-parse", base.ID+"^{tree}") {
			t.Errorf("%d messages, want %d", first.Messages, messages)
		}
		same := keepFiles(t, s, first.ID, map[string]string{"shot.png": "one"})
		if git(t, dir, "rev-parse", same.ID+"^{tree}") != git(t, dir, "rev-parse", first.ID+"^{tree}") {
			t.Error("a file that is there already changed the tree")
		}
		other := keepFiles(t, s, first.ID, map[string]string{"shot.png": "1"})
		back := keepFiles(t, s, other.ID, map[string]string{"shot.png": "one"})
		for id, want := range map[string]string{first.ID: "one", other.ID: "1", back.ID: "one"} {
			if found := contents(t, s, id); found["shot.png"] != want || len(found) != 4 {
				t.Errorf("%v, want %q", found["shot.png"], want)
			}
		}
		update(t, s, func(tx *gitstore.Tx) error { return tx.Set(ctx, name, back.ID) })
	}
	git(t, dir, "fsck", "--strict")
	if found, err := open(t, dir).Fsck(ctx, nil); err != nil || len(found) != 0 {
		t.Errorf("Fsck: %+v, %v", found, err)
	}
}

// TestFilesWithinAnUpdate checks that the second of two commits in an update sees the files of the first.
func TestFilesWithinAnUpdate(t *testing.T) {
	s, _ := newStore(t)
	base := save(t, s, "s", conversation(1))
	var last domarkx.Info
	update(t, s, func(tx *gitstore.Tx) error {
		first, err := commitFiles(tx, base.ID, map[string]string{"a.png": "a", "b.png": strings.Repeat("b", 20<<10)})
		if err != nil {
			return err
		}
		if last, err = commitFiles(tx, first.ID, map[string]string{"a.png": "other"}); err != nil {
			return err
		}
		return tx.Set(context.Background(), "s", last.ID)
	})
	if diff := cmp.Diff(map[string]string{"a.png": "other", "b.png": strings.Repeat("b", 20<<10)}, contents(t, s, last.ID)); diff != "" {
		t.Error(diff)
	}
}

func TestBadFiles(t *testing.T) {
	s, _ := newStore(t)
	ctx := context.Background()
	base := save(t, s, "s", conversation(1))
	for _, files := range [][]domarkx.AttachedFile{
		{{Path: "../x", SHA256: strings.Repeat("0", 64)}}, {{Path: ".git", SHA256: strings.Repeat("0", 64)}}, {{Path: "x", SHA256: "0"}},
		{{Path: "x", SHA256: strings.Repeat("0", 64)}, {Path: "x", SHA256: strings.Repeat("1", 64)}},
	} {
		err := s.Update(ctx, "test", func(tx *gitstore.Tx) error {
			c := commitOf(&domarkx.State{}, base.ID)
			c.Files = files
			_, err := tx.Append(ctx, c)
			return err
		})
		if !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%+v: %v", files, err)
		}
	}
}

// TestForgedFileRecords attaches texts that look like records. They must not refer to anything that
// the snapshot does not have, or to a path outside.
func TestForgedFileRecords(t *testing.T) {
	s, dir := newStore(t)
	save(t, s, "s", conversation(1))
	sum := sha256.Sum256([]byte("secret"))
	secret := hex.EncodeToString(sum[:])
	there := sha256.Sum256([]byte("there"))
	content := hex.EncodeToString(there[:])
	info, _ := attach(t, s, "s", strings.NewReader("there"),
		strings.NewReader("domarkx-file 1\npath x.png\ncontent "+secret+"\n"),
		strings.NewReader("domarkx-file 1\npath ../x.png\ncontent "+content+"\n"),
		strings.NewReader("domarkx-file 1\npath .git/config\ncontent "+content+"\n"),
		strings.NewReader("domarkx-file 1\npath %78.png\ncontent "+content+"\n"),
		strings.NewReader("domarkx-file 1\ncontent "+content+"\npath y.png\n"),
		strings.NewReader("domarkx-file 1\npath y.png\ncontent "+content),
		strings.NewReader("domarkx-file 1\npath y.png\ncontent "+content+"\nmore\n"),
		strings.NewReader("domarkx-file 2\npath y.png\ncontent "+content+"\n"),
		strings.NewReader("domarkx-file 1\npath ok.png\ncontent "+content+"\nreplaces "+content+"\n"))
	if diff := cmp.Diff(map[string]string{"ok.png": "there"}, contents(t, s, info.ID)); diff != "" {
		t.Error(diff)
	}
	if found, err := open(t, dir).Fsck(context.Background(), nil); err != nil || len(found) != 0 {
		t.Errorf("Fsck: %+v, %v", found, err)
	}
}

// TestMergeKeepsFiles checks that merging keeps the files of both sides. If only one side changed a file since the common
// snapshot, its version wins; the order of the sides does not matter.
func TestMergeKeepsFiles(t *testing.T) {
	s, dir := newStore(t)
	base := save(t, s, "s", conversation(1))
	gittest.Checks(t, 25)
	paths := rapid.SampledFrom([]string{"a.png", "b.png", "img/c.png"})
	rapid.Check(t, func(rt *rapid.T) {
		some := func(label string) map[string]string {
			return rapid.MapOfN(paths, rapid.StringMatching("[xyz]"), 0, 3).Draw(rt, label)
		}
		var common, left, right, one, other, next domarkx.Info
		changed := [2]map[string]bool{{}, {}} // paths that each side changed, whatever their final content
		by := func(side int, files map[string]string) map[string]string {
			for path := range files {
				changed[side][path] = true
			}
			return files
		}
		update(t, s, func(tx *gitstore.Tx) (err error) {
			then := func(info *domarkx.Info, base domarkx.Info, files map[string]string) {
				if err == nil {
					*info, err = commitFiles(tx, base.ID, files)
				}
			}
			then(&common, base, some("common"))
			left, right = common, common
			for range rapid.IntRange(0, 3).Draw(rt, "lefts") {
				then(&left, left, by(0, some("left")))
			}
			for range rapid.IntRange(0, 3).Draw(rt, "rights") {
				then(&right, right, by(1, some("right")))
			}
			if err == nil {
				one, err = mergeFiles(tx, left.ID, right.ID)
			}
			if err == nil {
				other, err = mergeFiles(tx, right.ID, left.ID)
			}
			then(&next, one, map[string]string{"a.png": "resolved"})
			for _, info := range []domarkx.Info{next, other} {
				if err == nil {
					err = tx.Set(context.Background(), "at-"+info.ID, info.ID)
				}
			}
			return err
		})
		if trees := strings.Fields(git(t, dir, "rev-parse", one.ID+"^{tree}", other.ID+"^{tree}")); trees[0] != trees[1] {
			rt.Fatal("the order of the parents changes the tree")
		}
		was, l, r, merged := contents(t, s, common.ID), contents(t, s, left.ID), contents(t, s, right.ID), contents(t, s, one.ID)
		all := maps.Clone(l)
		maps.Copy(all, r)
		if len(all) != len(merged) {
			rt.Fatalf("%v and %v make %v", l, r, merged)
		}
		for path, got := range merged {
			want := []string{l[path], r[path]}
			switch {
			case !changed[0][path]:
				want = want[1:]
			case !changed[1][path]:
				want = want[:1]
			}
			if !slices.Contains(want, got) || got == "" {
				rt.Fatalf("%s: %q, %q and %q make %q", path, was[path], l[path], r[path], got)
			}
		}
		if got := contents(t, s, next.ID); got["a.png"] != "resolved" || len(got) < len(merged) {
			rt.Fatalf("after the merge: %v", got)
		}
	})
}
