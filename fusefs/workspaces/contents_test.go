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

// A content counts how it is used.
type content struct {
	*bytes.Reader
	open  *atomic.Int64
	reads atomic.Int64
	fail  error
}

func (c *content) ReadAt(p []byte, off int64) (int, error) {
	c.reads.Add(1)
	if c.fail != nil {
		return 0, c.fail
	}
	return c.Reader.ReadAt(p, off)
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

func TestBlocksReadWhatIsThere(t *testing.T) {
	data := bytesOf(1, 5*workspaces.BlockSize+123)
	c := &content{Reader: bytes.NewReader(data), open: &atomic.Int64{}}
	c.open.Store(1)
	b := workspaces.NewReadAhead(c)
	read, err := io.ReadAll(io.NewSectionReader(b, 0, b.Size()))
	if err != nil || !bytes.Equal(read, data) {
		t.Fatalf("read from end to end: %d bytes, %v", len(read), err)
	}
	if n := c.reads.Load(); n != 6 {
		t.Errorf("%d reads for six blocks", n)
	}
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 9))
			for range 50 {
				off, n := r.Int64N(int64(len(data))), r.IntN(2*workspaces.BlockSize)
				p := make([]byte, n)
				got, err := b.ReadAt(p, off)
				want := data[off:min(off+int64(n), int64(len(data)))]
				if !bytes.Equal(p[:got], want) || (got < n) != errors.Is(err, io.EOF) {
					t.Errorf("%d bytes at %d: %d, %v", n, off, got, err)
				}
			}
		})
	}
	readers.Wait()
	if n, err := b.ReadAt(make([]byte, 1), b.Size()); n != 0 || err != io.EOF {
		t.Errorf("behind the end: %d, %v", n, err)
	}
	if _, err := b.ReadAt(make([]byte, 1), -1); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("before the beginning: %v", err)
	}
	if err := b.Close(); err != nil || c.open.Load() != 0 {
		t.Errorf("closing: %v", err)
	}
}

// TestBlocksStayWhileTheyAreLent: a borrowed buffer does not change until Done.
func TestBlocksStayWhileTheyAreLent(t *testing.T) {
	data := bytesOf(3, 20*workspaces.BlockSize)
	b := workspaces.NewReadAhead(&content{Reader: bytes.NewReader(data), open: &atomic.Int64{}})
	times := 100
	if testing.Short() {
		times = 30
	}
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 4))
			for range times {
				off := r.Int64N(int64(len(data) - workspaces.BlockSize))
				lent, err := workspaces.Borrow(b, off, workspaces.BlockSize)
				if err != nil {
					t.Error(err)
					return
				}
				want := data[off : off+workspaces.BlockSize]
				for range 2 {
					if got, _ := lent.Bytes(make([]byte, workspaces.BlockSize)); !bytes.Equal(got, want) {
						t.Errorf("what was lent at %d is something else", off)
					}
					if _, err := b.ReadAt(make([]byte, 10), r.Int64N(int64(len(data)))); err != nil && err != io.EOF {
						t.Error(err)
					}
				}
				lent.Done()
			}
		})
	}
	readers.Wait()
	last, err := workspaces.Borrow(b, 5, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := last.Bytes(make([]byte, 10)); !bytes.Equal(got, data[5:15]) || last.Size() != 10 {
		t.Error("what was lent is gone with the content")
	}
	last.Done()
	for _, span := range [][2]int64{{-1, 1}, {int64(len(data)), 1}, {int64(len(data)) - 1, 2}} {
		if _, err := workspaces.Borrow(b, span[0], int(span[1])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes at %d: %v", span[1], span[0], err)
		}
	}
}

func TestBlocksTellOfErrors(t *testing.T) {
	c := &content{Reader: bytes.NewReader(bytesOf(1, 2*workspaces.BlockSize)), open: &atomic.Int64{}, fail: domarkx.ErrCorrupt}
	b := workspaces.NewReadAhead(c)
	if _, err := b.ReadAt(make([]byte, 10), 5); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("reads: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
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

// A whole is a content that is in memory once it is wanted.
type whole struct {
	*content
	data []byte
}

func (w whole) Bytes() ([]byte, error) {
	w.reads.Add(1)
	return w.data, w.fail
}

// What was prepared is not opened or read again when it is wanted; what could not be
// read is told then.
func TestContentsArePrepared(t *testing.T) {
	data := bytesOf(5, 5*workspaces.BlockSize)
	var open, opens atomic.Int64
	var last *content
	contents := workspaces.NewContents(func(_ context.Context, id string) (domarkx.Content, error) {
		if id == "none" {
			return nil, domarkx.ErrNotFound
		}
		open.Add(1)
		opens.Add(1)
		last = &content{Reader: bytes.NewReader(data), open: &open}
		if id == "broken" {
			last.fail = domarkx.ErrCorrupt
		}
		if id == "blocks" {
			return last, nil
		}
		return whole{last, data}, nil
	})
	p := make([]byte, 1000)
	for _, id := range []string{"blocks", "whole"} {
		opens.Store(0)
		workspaces.Prepare(contents, t.Context(), id)
		for range 3 {
			if err := workspaces.Read(contents, t.Context(), id, int64(len(data)), p, 77); err != nil || !bytes.Equal(p, data[77:1077]) {
				t.Errorf("%s: %v", id, err)
			}
		}
		if opens.Load() != 1 || last.reads.Load() < 1 || last.reads.Load() > 4 {
			t.Errorf("%s: opened %d times, read %d times", id, opens.Load(), last.reads.Load())
		}
		for _, off := range []int64{int64(len(data)) - 999, int64(len(data)), int64(len(data)) + 1} {
			if err := workspaces.Read(contents, t.Context(), id, int64(len(data)), p, off); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, over its end: %v", id, err)
			}
		}
	}
	for id, want := range map[string]error{"none": domarkx.ErrNotFound, "broken": domarkx.ErrCorrupt} {
		workspaces.Prepare(contents, t.Context(), id)
		if err := workspaces.Read(contents, t.Context(), id, int64(len(data)), p, 0); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", id, err, want)
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
	ended := make(chan struct{})
	go func() {
		workspaces.Prepare(c, t.Context(), "slow")
		close(ended)
	}()
	<-opening
	for i := range workspaces.MaxOpen {
		workspaces.Prepare(c, t.Context(), fmt.Sprint(i))
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
