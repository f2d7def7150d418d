//go:build linux || darwin

package workspaces_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

type content struct{ *strings.Reader }

func (content) Close() error { return nil }

func bytesOf(seed uint64, n int) []byte {
	data := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

func TestContentsAreKept(t *testing.T) {
	var opens atomic.Int64
	contents := workspaces.NewContents(func(_ context.Context, id string) (domarkx.Content, error) {
		if id == "none" {
			return nil, domarkx.ErrNotFound
		}
		opens.Add(1)
		return content{strings.NewReader("content of " + id)}, nil
	})
	p := make([]byte, 10)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for i := range 10 * workspaces.MaxOpen {
				id := fmt.Sprintf("c%03d", i)
				p := make([]byte, len("content of c000"))
				if err := workspaces.Read(contents, t.Context(), id, int64(len(p)), p, 0); err != nil || string(p) != "content of "+id {
					t.Errorf("%s: %q, %v", id, p, err)
				}
			}
		})
	}
	readers.Wait()
	was := opens.Load()
	for range 10 {
		if err := workspaces.Read(contents, t.Context(), "c000", 15, p, 3); err != nil || string(p) != "tent of c0" {
			t.Errorf("reads %q, %v", p, err)
		}
	}
	if n := opens.Load() - was; n != 1 { // the cache has dropped it
		t.Errorf("it was opened %d times for ten reads", n)
	}
	for range 2 {
		if err := workspaces.Read(contents, t.Context(), "none", 10, p, 0); !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("what is not there: %v", err)
		}
	}
	if err := workspaces.Read(contents, t.Context(), "c000", 15, p, 10); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("behind the end: %v", err)
	}
	for _, size := range []int64{14, 16} {
		if err := workspaces.Read(contents, t.Context(), "c000", size, p, 0); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("15 bytes where %d were told: %v", size, err)
		}
	}
}
