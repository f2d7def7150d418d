package gitstore_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

// TestContinueOrigin checks that only the changes of a document that was saved again are stored, and that
// reading returns the new document.
func TestContinueOrigin(t *testing.T) {
	s, _ := newStore(t)
	ctx := context.Background()
	random := rand.NewChaCha8([32]byte{1})
	line := func() []byte {
		data := make([]byte, 30<<10)
		random.Read(data)
		return append(bytes.ReplaceAll(data, []byte("\n"), []byte(" ")), '\n')
	}
	var first []byte
	for range 200 {
		first = append(first, line()...)
	}
	save := func(content []byte, after *domarkx.Info) domarkx.Info {
		t.Helper()
		var saved domarkx.Info
		update(t, s, func(tx *gitstore.Tx) error {
			w, err := tx.BeginOrigin("pi", bytes.NewReader(content), sha256.Sum256(content))
			if err != nil {
				return err
			}
			state := conversation(1)
			c := commitOf(state)
			if after != nil {
				headers, err := tx.Header(ctx, after.ID)
				if err != nil {
					return err
				}
				if err := w.Continue(headers[0].Origin); err != nil {
					return err
				}
				c.Parents = []string{after.ID}
			}
			if state.Headers[0].Origin, err = w.Finish(ctx); err != nil {
				return err
			}
			if saved, err = tx.Commit(ctx, c); err != nil {
				return err
			}
			return tx.Set(ctx, "s", saved.ID)
		})
		return saved
	}
	one := save(first, nil)
	stored := sizeOf(t, s.Git().CommonDir)
	second := append(bytes.Clone(first), line()...)
	second[10] ^= 1
	two := save(second, &one)
	if grown := sizeOf(t, s.Git().CommonDir) - stored; grown > 400<<10 {
		t.Errorf("%d bytes more are stored for two segments of 90 KB", grown)
	}
	for id, want := range map[string][]byte{one.ID: first, two.ID: second} {
		headers, err := s.Header(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		origin, err := s.Origin(ctx, headers[0].Origin)
		if err != nil {
			t.Fatal(err)
		}
		r, err := origin.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
		}
	}
}

// sizeOf returns the total size of the files below a directory in bytes.
func sizeOf(t *testing.T, dir string) int64 {
	t.Helper()
	var n int64
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				n += info.Size()
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
