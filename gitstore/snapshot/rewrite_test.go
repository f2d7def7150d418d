package snapshot_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// replace returns an edit that writes other texts for messages, by their ids, and counts its calls.
func replace(texts map[domarkx.ID]string, calls *int) snapshot.LeafEdit {
	return func(messages []domarkx.Entry) (changed bool, grown int64, odd bool, err error) {
		*calls++
		for i, e := range messages {
			if text, ok := texts[e.ID]; ok {
				messages[i].JSON = domarkx.Blob{Data: messageJSON(e.Role, text)}
				messages[i].Layout.Size = int64(len(text))
				changed, grown = true, grown+int64(len(text))-e.Layout.Size
			}
		}
		return changed, grown, false, nil
	}
}

// TestRewriteConversation checks that an edit of stored messages makes the same tree as storing the edited
// messages, and that directories that several snapshots share are edited once.
func TestRewriteConversation(t *testing.T) {
	r := newRepository(t)
	const n = 530 // two directories above the leaves
	old := r.commit(t, commitOf(conversation(n, nil)))
	before, err := r.reader.Load(ctx, old.ID)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		texts := map[int]string{}
		byID := map[domarkx.ID]string{}
		var grown int64
		leaves := map[int]bool{}
		for _, k := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, 5, rapid.ID[int]).Draw(t, "messages") {
			texts[k] = rapid.StringMatching("[a-z]{0,9}").Draw(t, "text")
			byID[before.Thread.Live[k].ID] = texts[k]
			grown += int64(len(texts[k])) - before.Thread.Live[k].Layout.Size
			leaves[k/16] = true
		}
		r.update(t, func(b *snapshot.Builder) error {
			done, calls := snapshot.Rewritings{}, 0
			now, whole, err := b.RewriteConversation(ctx, old.ID, done, replace(byID, &calls))
			if err != nil {
				return err
			}
			want := conversation(n, nil)
			for k, text := range texts {
				e := &want.Thread.Live[k]
				e.JSON, e.Layout.Size = domarkx.Blob{Data: messageJSON(e.Role, text)}, int64(len(text))
			}
			stored, err := b.StoreConversation(ctx, nil, func(yield func(*domarkx.Entry, error) bool) {
				for i := range want.Thread.Live {
					if !yield(&want.Thread.Live[i], nil) {
						return
					}
				}
			})
			if err != nil {
				return err
			}
			if now.Tree != stored.Tree || now.Messages != n {
				t.Errorf("tree %s with %d messages, want %s with %d", now.Tree, now.Messages, stored.Tree, n)
			}
			if whole.Changed != (len(texts) > 0) || whole.Grown != grown || whole.Odd {
				t.Errorf("changed %v by %d bytes, want %v by %d", whole.Changed, whole.Grown, len(texts) > 0, grown)
			}
			if whole.First.ID != before.Thread.Live[0].ID || whole.Last.ID != before.Thread.Live[n-1].ID {
				t.Errorf("messages from %s to %s", whole.First.ID, whole.Last.ID)
			}
			if calls != (n+15)/16 {
				t.Errorf("%d leaves were edited", calls)
			}
			again, _, err := b.RewriteConversation(ctx, old.ID, done, replace(byID, &calls))
			if err != nil || again.Tree != now.Tree || calls != (n+15)/16 {
				t.Errorf("again: tree %s, %d edits, %v", again.Tree, calls, err)
			}
			return nil
		})
	})
}

func TestRewriteConversationStops(t *testing.T) {
	r := newRepository(t)
	id := r.commit(t, commitOf(conversation(40, nil))).ID
	empty := r.commit(t, commitOf(conversation(0, nil))).ID
	broken := errors.New("the edit is broken")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	unchanged := func([]domarkx.Entry) (bool, int64, bool, error) { return false, 0, false, nil }
	r.update(t, func(b *snapshot.Builder) error {
		if _, _, err := b.RewriteConversation(ctx, id, snapshot.Rewritings{}, func([]domarkx.Entry) (bool, int64, bool, error) { return false, 0, false, broken }); !errors.Is(err, broken) {
			t.Errorf("an edit that returns an error: %v", err)
		}
		if _, _, err := b.RewriteConversation(ended, id, snapshot.Rewritings{}, unchanged); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
		if now, whole, err := b.RewriteConversation(ctx, empty, snapshot.Rewritings{}, unchanged); err != nil || now.Tree != "" || now.Messages != 0 || whole.Changed {
			t.Errorf("no messages: %+v, %+v, %v", now, whole, err)
		}
		if _, _, err := b.RewriteConversation(ctx, "main", snapshot.Rewritings{}, unchanged); err == nil {
			t.Error("a snapshot without an id was rewritten")
		}
		return nil
	})
}

// TestRewrite checks the fields that a snapshot takes from the one that it replaces.
func TestRewrite(t *testing.T) {
	r := newRepository(t)
	attach := func(texts ...string) (list []domarkx.Attachment) {
		t.Helper()
		r.update(t, func(b *snapshot.Builder) error {
			for _, text := range texts {
				blob, sum, err := b.StoreAttachment(ctx, strings.NewReader(text))
				if err != nil {
					return err
				}
				list = append(list, domarkx.Attachment{SHA256: sum, Blob: blob})
			}
			return nil
		})
		return list
	}
	files := attach("one", "two")
	state := conversation(3, nil)
	state.Thread.Dead = []domarkx.Tombstone{{ID: domarkx.DeriveID(0, []byte("removed")), Past: []domarkx.Rev{{}}}}
	c := commitOf(state)
	c.Attachments = files
	old := r.commit(t, c)
	for name, kept := range map[string][]domarkx.Attachment{"all attachments": nil, "some": files[:1], "none": {}} {
		t.Run(name, func(t *testing.T) {
			var now domarkx.Info
			r.update(t, func(b *snapshot.Builder) error {
				calls := 0
				first := conversation(1, nil).Thread.Live[0].ID
				stored, _, err := b.RewriteConversation(ctx, old.ID, snapshot.Rewritings{}, replace(map[domarkx.ID]string{first: "redacted"}, &calls))
				if err != nil {
					return err
				}
				c := commitOf(&domarkx.State{Headers: conversation(0, nil).Headers})
				c.Conversation, c.Kept, c.Replaces = stored, kept, old.ID
				now, err = b.Rewrite(ctx, old.ID, c)
				return err
			})
			got, err := r.reader.Load(ctx, now.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(state.Thread.Dead, got.Thread.Dead); diff != "" || len(got.Thread.Live) != 3 || now.Replaces != old.ID {
				t.Errorf("%d messages, removed: %s; replaces %s", len(got.Thread.Live), diff, now.Replaces)
			}
			want := files
			if kept != nil {
				want = kept
			}
			list, err := r.reader.AttachmentsOf(ctx, now.ID)
			if err != nil {
				t.Fatal(err)
			}
			digests := func(list []domarkx.Attachment) map[string]bool {
				m := map[string]bool{}
				for _, a := range list {
					m[a.SHA256] = true
				}
				return m
			}
			if !maps.Equal(digests(list), digests(want)) {
				t.Errorf("attachments %v, want %v", digests(list), digests(want))
			}
		})
	}
}

// TestRewriteFiles checks that a version is rewritten file by file, and that what versions share is read once.
func TestRewriteFiles(t *testing.T) {
	r := newRepository(t)
	large := domarkx.Blob{}
	r.objects(t, func(w *object.Writer) (odb.ID, error) {
		var err error
		large, err = w.StoreChunks(strings.NewReader(strings.Repeat("large ", 1000)))
		return odb.ID{}, err
	})
	chunks, err := odb.ParseID(large.Chunks)
	if err != nil {
		t.Fatal(err)
	}
	pointer, err := r.reader.Read(ctx, domarkx.Blob{ID: large.ID})
	if err != nil || !chunked.IsPointer(oid.SHA1, pointer) {
		t.Fatalf("pointer %q, %v", pointer, err)
	}
	shared := directory{"key": "a secret", "link": link("a secret place")}
	tree := func(extra string) odb.ID {
		return r.tree(t, directory{".domarkx": "domarkx-folder 1\n", "a": "a secret", "b": extra, "sub": directory{"same": shared}, "other": shared,
			"big": string(pointer), ".domarkx+big": chunks})
	}
	first, second := tree("first"), tree("second")
	var visited []string
	edit := func(path string, content domarkx.Blob) ([]byte, error) {
		visited = append(visited, path)
		large := content.Chunks != ""
		if large != (path == "big") {
			t.Errorf("%s: large is %v", path, large)
		}
		if large {
			return []byte("must not be stored"), nil
		}
		data, err := r.reader.Read(ctx, content)
		if now := strings.ReplaceAll(string(data), "secret", "*"); err == nil && now != string(data) {
			return []byte(now), nil
		}
		return nil, err
	}
	rewritten := map[odb.ID]string{}
	r.update(t, func(b *snapshot.Builder) error {
		done := map[string]string{}
		for _, id := range []odb.ID{first, second, second} {
			now, err := b.RewriteFiles(ctx, id.String(), done, edit)
			if err != nil {
				return err
			}
			rewritten[id] = now
		}
		return nil
	})
	redacted := directory{"key": "a *", "link": link("a * place")}
	want := r.tree(t, directory{".domarkx": "domarkx-folder 1\n", "a": "a *", "b": "second", "sub": directory{"same": redacted}, "other": redacted,
		"big": string(pointer), ".domarkx+big": chunks})
	if rewritten[second] != want.String() {
		t.Errorf("tree %s, want %s", rewritten[second], want)
	}
	slices.Sort(visited)
	if want := []string{"a", "a", "b", "b", "big", "big", "other/key", "other/link"}; !slices.Equal(visited, want) {
		t.Errorf("edited %q, want %q", visited, want)
	}
	r.update(t, func(b *snapshot.Builder) error {
		same, err := b.RewriteFiles(ctx, rewritten[second], map[string]string{}, edit)
		if err != nil || same != rewritten[second] {
			t.Errorf("without secrets: tree %s became %s, %v", rewritten[second], same, err)
		}
		broken := errors.New("the edit is broken")
		if _, err := b.RewriteFiles(ctx, first.String(), map[string]string{}, func(string, domarkx.Blob) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) || !strings.Contains(err.Error(), "file ") {
			t.Errorf("an edit that returns an error: %v", err)
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := b.RewriteFiles(ended, first.String(), map[string]string{}, edit); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
		if _, err := b.RewriteFiles(ctx, "main", map[string]string{}, edit); err == nil {
			t.Error("a version without an id was rewritten")
		}
		return nil
	})
}

func TestEntryNames(t *testing.T) {
	r := newRepository(t)
	shared := directory{"deep": "x"}
	one := r.tree(t, directory{".domarkx": "domarkx-folder 1\n", "a": "1", "dir": shared, ".domarkx+b": directory{"00-1": "chunk"}, "b": "pointer"})
	two := r.tree(t, directory{"c": "2", "again": shared})
	var names []string
	seen := map[string]bool{}
	for _, id := range []odb.ID{one, two, one} {
		if err := r.reader.EntryNames(ctx, id.String(), seen, func(name string) { names = append(names, name) }); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	if want := []string{"a", "again", "b", "c", "deep", "dir"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := r.reader.EntryNames(ended, one.String(), map[string]bool{}, func(string) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	for _, id := range []string{"main", strings.Repeat("1", 40)} {
		if err := r.reader.EntryNames(ctx, id, map[string]bool{}, func(string) {}); err == nil {
			t.Errorf("names in %q", id)
		}
	}
}

// TestEmptyVersion checks that a resource without files is a version that can be read and checked.
func TestEmptyVersion(t *testing.T) {
	r := newRepository(t)
	var id string
	r.update(t, func(b *snapshot.Builder) (err error) {
		id, err = b.EmptyVersion()
		return err
	})
	top, err := r.reader.Top(ctx, id)
	if err != nil || top.Type != domarkx.Directory {
		t.Errorf("top %+v, %v", top, err)
	}
	if files, err := r.reader.Directory(ctx, top.ID); err != nil || len(files) != 0 {
		t.Errorf("files %v, %v", files, err)
	}
	if err := r.reader.CheckVersion(ctx, "", id); err != nil {
		t.Error(err)
	}
}
