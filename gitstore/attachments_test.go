package gitstore_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

// attach appends a message with attachments to a session.
func attach(tb testing.TB, s *gitstore.Store, name string, contents ...io.Reader) (domarkx.Info, []string) {
	tb.Helper()
	var info domarkx.Info
	var sums []string
	update(tb, s, func(tx *gitstore.Tx) error {
		ctx := context.Background()
		tip, err := tx.Tip(ctx, name)
		if err != nil {
			return err
		}
		last, err := tx.Entry(ctx, tip.ID, tip.Messages-1)
		if err != nil {
			return err
		}
		c := commitOf(&domarkx.State{Thread: domarkx.Thread{Live: []domarkx.Entry{entry(tip.Messages, last.ID, "attached")}}}, tip.ID)
		c.State.Thread.Live[0].ID[15] ^= byte(len(name))
		for _, content := range contents {
			blob, sum, err := tx.StoreAttachment(ctx, content)
			if err != nil {
				return err
			}
			c.Attachments, sums = append(c.Attachments, domarkx.Attachment{SHA256: sum, Blob: blob}), append(sums, sum)
		}
		if info, err = tx.Append(ctx, c); err != nil {
			return err
		}
		return tx.Set(ctx, name, info.ID)
	})
	return info, sums
}

func TestAttachments(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	base := save(t, s, "left", conversation(1))
	update(t, s, func(tx *gitstore.Tx) error { return tx.Set(ctx, "right", base.ID) })
	pointer := "domarkx-large 1\nsize 0\nsha256 " + strings.Repeat("0", 64) + "\nchunks " + strings.Repeat("1", 40) + "\n"
	big := make([]byte, 17<<20)
	if _, err := rand.NewChaCha8([32]byte{}).Read(big); err != nil {
		t.Fatal(err)
	}
	texts := []string{"", "one", "two", pointer, string(big)}
	left, _ := attach(t, s, "left", strings.NewReader(texts[0]), strings.NewReader(texts[1]), strings.NewReader(texts[4]))
	right, _ := attach(t, s, "right", strings.NewReader(texts[2]), strings.NewReader(texts[1]), strings.NewReader(texts[3]))
	before := git(t, dir, "rev-parse", left.ID+":attachments")
	left, _ = attach(t, s, "left", strings.NewReader(texts[1]))
	if after := git(t, dir, "rev-parse", left.ID+":attachments"); after != before {
		t.Error("an attachment that is there already changed the tree")
	}
	left, _ = attach(t, s, "left")
	var merged, edited domarkx.Info
	update(t, s, func(tx *gitstore.Tx) error {
		a, err := tx.Load(ctx, left.ID)
		if err != nil {
			return err
		}
		b, err := tx.Load(ctx, right.ID)
		if err != nil {
			return err
		}
		if merged, err = tx.Commit(ctx, commitOf(domarkx.MergeStates(a, b), left.ID, right.ID)); err != nil {
			return err
		}
		if edited, err = tx.Commit(ctx, commitOf(conversation(1), merged.ID)); err != nil {
			return err
		}
		return tx.Set(ctx, "left", edited.ID)
	})
	for _, snapshot := range []string{merged.ID, edited.ID} {
		for _, text := range texts {
			sum := sha256.Sum256([]byte(text))
			content, err := s.Attachment(ctx, snapshot, hex.EncodeToString(sum[:]))
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(io.NewSectionReader(content, 0, content.Size()))
			if err != nil || string(data) != text || content.Size() != int64(len(text)) {
				t.Errorf("%d bytes, %v, want %d", len(data), err, len(text))
			}
			if err := content.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, sum := range []string{strings.Repeat("0", 64), "x", ""} {
		if _, err := s.Attachment(ctx, merged.ID, sum); !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("%q: %v", sum, err)
		}
	}
	if _, err := s.Attachment(ctx, base.ID, strings.Repeat("0", 64)); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("of a snapshot without any: %v", err)
	}
	err := s.Update(ctx, "test", func(tx *gitstore.Tx) error {
		c := commitOf(conversation(1))
		c.Attachments = []domarkx.Attachment{{SHA256: "x"}}
		_, err := tx.Commit(ctx, c)
		return err
	})
	if !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("an attachment without a SHA-256: %v", err)
	}
	git(t, dir, "fsck", "--strict")
	git(t, dir, "gc", "-q", "--prune=now")
	if found, err := open(t, dir).Fsck(ctx, nil); err != nil || len(found) != 0 {
		t.Errorf("Fsck: %+v, %v", found, err)
	}
	sum := sha256.Sum256([]byte("one"))
	path := "attachments/" + hex.EncodeToString(sum[:1]) + "/" + hex.EncodeToString(sum[1:])
	for name, files := range map[string]map[string]string{
		"changed":       {path: "other"},
		"name":          {"attachments/ab/x": "x"},
		"no directory":  {"attachments/ab": "x"},
		"pointer alone": {path: pointer},
	} {
		if name == "pointer alone" {
			files = map[string]string{path + ".chunks/00-1": "x"}
		}
		git(t, dir, "update-ref", "refs/domarkx/sessions/bad", rewritten(t, dir, merged.ID, files, "", ""))
		if found, err := open(t, dir).Fsck(ctx, nil); err != nil || len(found) != 1 || !strings.Contains(found[0].What, "attachments/") {
			t.Errorf("Fsck, %s: %+v, %v", name, found, err)
		}
	}
}

// blank is a reader of that many NUL bytes.
type blank int64

func (z *blank) Read(p []byte) (int, error) {
	if *z == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), int64(*z))
	clear(p[:n])
	*z -= blank(n)
	return int(n), nil
}

func TestLongAttachmentNeedsLittleMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // shorttest collects garbage less often
	s, _ := newStore(t)
	save(t, s, "s", conversation(1))
	size := blank(512 << 20)
	if testing.Short() {
		size = 192 << 20
	}
	content := size
	var most uint64
	info, sums := attach(t, s, "s", io.TeeReader(&content, writerFunc(func(p []byte) {
		if content%(8<<20) == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	})))
	if limit := min(200<<20, uint64(size)*3/4); most > limit {
		t.Errorf("%d MB of memory", most>>20)
	}
	attached, err := s.Attachment(context.Background(), info.ID, sums[0])
	if err != nil {
		t.Fatal(err)
	}
	tail := make([]byte, 10)
	if n, err := attached.ReadAt(tail, int64(size)-10); n != 10 || err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(tail, make([]byte, 10)) {
		t.Errorf("%d, %v", n, err)
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// TestAttachmentsFanOut checks that the cost of attaching does not depend on the number of attachments.
func TestAttachmentsFanOut(t *testing.T) {
	s, dir := newStore(t)
	save(t, s, "s", conversation(1))
	var many []io.Reader
	for i := range 2000 {
		many = append(many, strings.NewReader(strings.Repeat("x", i)))
	}
	first, _ := attach(t, s, "s", many...)
	second, _ := attach(t, s, "s", strings.NewReader("another"))
	changed := strings.Split(git(t, dir, "diff-tree", "-t", "-r", "--name-only", first.ID, second.ID, "--", "attachments"), "\n")
	if len(changed) != 3 {
		t.Errorf("changed: %v", changed)
	}
}
