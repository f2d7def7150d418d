//go:build linux || darwin

package workspaces_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// A content counts how many are open.
type content struct {
	*bytes.Reader
	open *atomic.Int64
}

func (c *content) Close() error {
	c.open.Add(-1)
	return nil
}

func bytesOf(seed uint64, n int) []byte {
	data := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

func TestContentsAreClosed(t *testing.T) {
	var open, opens atomic.Int64
	contents := workspaces.NewContents(func(_ context.Context, id string) (domarkx.Content, error) {
		if id == "none" {
			return nil, domarkx.ErrNotFound
		}
		open.Add(1)
		opens.Add(1)
		return &content{Reader: bytes.NewReader([]byte("content of " + id)), open: &open}, nil
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
	if n := open.Load(); n > workspaces.MaxOpen {
		t.Errorf("%d contents stay open", n)
	}
	was := opens.Load()
	for range 10 {
		if err := workspaces.Read(contents, t.Context(), "c000", 15, p, 3); err != nil || string(p) != "tent of c0" {
			t.Errorf("reads %q, %v", p, err)
		}
	}
	if n := opens.Load() - was; n > 1 {
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
	workspaces.Close(contents)
	if n := open.Load(); n != 0 {
		t.Errorf("%d contents are open in the end", n)
	}
}

// TestDroppedWhileOpening opens a content so slowly that the cache drops it before it is
// open. It must not count as cached then.
func TestDroppedWhileOpening(t *testing.T) {
	opening, goOn := make(chan struct{}), make(chan struct{})
	open := &atomic.Int64{}
	c := workspaces.NewContents(func(_ context.Context, id string) (domarkx.Content, error) {
		if id == "slow" {
			close(opening)
			<-goOn
		}
		open.Add(1)
		return &content{Reader: bytes.NewReader(make([]byte, 10)), open: open}, nil
	})
	read := func(id string) {
		if err := workspaces.Read(c, t.Context(), id, 10, make([]byte, 1), 0); err != nil {
			t.Error(err)
		}
	}
	ended := make(chan struct{})
	go func() {
		read("slow")
		close(ended)
	}()
	<-opening
	for i := range workspaces.MaxOpen {
		read(fmt.Sprint(i))
	}
	close(goOn)
	<-ended
	if n, total := open.Load(), workspaces.Total(c); n != workspaces.MaxOpen || total != 10*n {
		t.Errorf("%d contents are open, and count as %d bytes", n, total)
	}
	workspaces.Close(c)
	if n := open.Load(); n != 0 {
		t.Errorf("%d contents are still open", n)
	}
}
