package gitstore_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

func TestOrigin(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	var log bytes.Buffer
	rng := rand.New(rand.NewPCG(1, 2))
	lines := 40000
	if testing.Short() {
		lines = 10000
	}
	for i := range lines {
		fmt.Fprintf(&log, "{\"n\":%d,\"x\":\"%s\"}\n", i, strings.Repeat("x", rng.IntN(200)))
	}
	long := bytes.Repeat([]byte("0123456789abcdef"), 17<<16) // 17 MiB in one line
	for name, content := range map[string][]byte{
		"empty": {}, "short": []byte("{}"), "log": log.Bytes(), "long line": slices.Concat([]byte("a\n"), long, []byte("\nend\n")), "no end": long,
	} {
		t.Run(name, func(t *testing.T) {
			state := conversation(3)
			var info domarkx.Info
			update(t, s, func(tx *gitstore.Tx) (err error) {
				if state.Headers[0].Origin, err = storeOrigin(ctx, tx, "zeus", content); err != nil {
					return err
				}
				if info, err = tx.Commit(ctx, commitOf(state)); err != nil {
					return err
				}
				return tx.Set(ctx, strings.ReplaceAll(name, " ", "-"), info.ID)
			})
			headers, err := s.Header(ctx, info.ID)
			if err != nil || headers[0].Origin != state.Headers[0].Origin {
				t.Fatalf("%v, %+v", err, headers)
			}
			origin, err := s.Origin(ctx, headers[0].Origin)
			if err != nil || origin.Format != "zeus" || origin.Size != int64(len(content)) {
				t.Fatalf("%+v, %v", origin, err)
			}
			if now, err := s.Conversation(ctx, info.ID); now != origin.Note || err != nil {
				t.Errorf("the snapshot says %q, %v, the original was for %q", now, err, origin.Note)
			}
			r, err := origin.Open()
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, content) || r.Close() != nil {
				t.Errorf("read %d bytes, %v, want %d", len(got), err, len(content))
			}
		})
	}
	changed := save(t, s, "log", conversation(4))
	headers, err := s.Header(ctx, changed.ID)
	if err != nil || headers[0].Origin != "" {
		t.Errorf("%+v, %v", headers, err)
	}
	if found, err := s.Fsck(ctx, nil); err != nil || len(found) != 0 {
		t.Errorf("Fsck: %+v, %v", found, err)
	}
	git(t, dir, "fsck", "--strict")
}

func TestLargeContent(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	big := append([]byte(`{"role":"user","content":[{"type":"text","value":"`), bytes.Repeat([]byte("0123456789abcdef"), 17<<16)...)
	big = append(big, "\"}]}\n"...)
	state := conversation(2)
	state.Thread.Live[0].JSON = domarkx.Blob{Data: big}
	var info domarkx.Info
	update(t, s, func(tx *gitstore.Tx) (err error) {
		if state.Headers[0].Includes, err = tx.StoreIncludes(ctx, []domarkx.Include{{Path: "big.bin", Data: big}, {Path: "big.bin.chunks", Data: []byte("x")}}); err != nil {
			return err
		}
		if info, err = tx.Commit(ctx, commitOf(state)); err != nil {
			return err
		}
		return tx.Set(ctx, "s", info.ID)
	})
	loaded, err := s.Load(ctx, info.ID)
	if diff := cmp.Diff(state, loaded, storedEqual); diff != "" || err != nil {
		t.Fatalf("%v %s", err, diff)
	}
	e := loaded.Thread.Live[0]
	if data, err := s.Read(ctx, e.JSON); !bytes.Equal(data, big) || err != nil || e.JSON.Chunks == "" {
		t.Errorf("read %d bytes, %v, want %d", len(data), err, len(big))
	}
	r, size, err := s.Open(ctx, e.JSON)
	if err != nil || size != int64(len(big)) {
		t.Fatalf("%d bytes, %v", size, err)
	}
	if data, err := io.ReadAll(r); !bytes.Equal(data, big) || err != nil || r.Close() != nil {
		t.Errorf("streamed %d bytes, %v", len(data), err)
	}
	files, err := s.Includes(ctx, loaded.Headers[0].Includes)
	if err != nil || len(files) != 2 || files[0].Path != "big.bin" || files[1].Path != "big.bin.chunks" || !bytes.Equal(files[0].Data, big) {
		t.Errorf("%d files, %v", len(files), err)
	}
	if found, err := s.Fsck(ctx, nil); err != nil || len(found) != 0 {
		t.Errorf("Fsck: %+v, %v", found, err)
	}
	git(t, dir, "fsck", "--strict")
}

func TestIncludesAreSortedByPath(t *testing.T) {
	s, _ := newStore(t)
	ctx := context.Background()
	paths := []string{"a b", "a-b", "a/b", "a0", "é", "\U0001f642"}
	var files []domarkx.Include
	for i := range paths {
		files = append(files, domarkx.Include{Path: paths[(i+3)%len(paths)], Data: []byte{byte(i)}})
	}
	state := conversation(1)
	update(t, s, func(tx *gitstore.Tx) (err error) {
		if state.Headers[0].Includes, err = tx.StoreIncludes(ctx, files); err != nil {
			return err
		}
		info, err := tx.Commit(ctx, commitOf(state))
		if err != nil {
			return err
		}
		return tx.Set(ctx, "s", info.ID)
	})
	got, err := s.Includes(ctx, state.Headers[0].Includes)
	if err != nil || len(got) != len(paths) {
		t.Fatalf("%v, %v", got, err)
	}
	for i, f := range got {
		if f.Path != paths[i] || f.Data[0] != byte((i+3)%len(paths)) {
			t.Errorf("file %d is %q", i, f.Path)
		}
	}
}
