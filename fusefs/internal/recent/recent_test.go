package recent_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/fusefs/internal/recent"
)

func TestTheLastUsedStay(t *testing.T) {
	c := recent.Cache[int, int]{Most: 8}
	var read []int
	load := func(key int) {
		if v, err := c.Load(t.Context(), key, func(context.Context) (int, error) { read = append(read, key); return -key, nil }); v != -key || err != nil {
			t.Errorf("%d is %d, %v", key, v, err)
		}
	}
	for i := range 100 {
		load(1000) // is used all the time
		load(i)
	}
	if want := 101; len(read) != want || slices.Index(read, 1000) != 0 || slices.Contains(read[1:], 1000) {
		t.Errorf("read %d times, expected %d: %v", len(read), want, read)
	}
	load(99)
	load(0)
	if read[len(read)-1] != 0 || read[len(read)-2] != 99 || len(read) != 102 {
		t.Errorf("the last read were %v", read[len(read)-2:])
	}
}

func TestCosts(t *testing.T) {
	c := recent.Cache[string, string]{Most: 10, Cost: func(s string) int { return len(s) }}
	c.Put("large", "123456")
	if _, ok := c.Get("large"); ok {
		t.Error("a value of more than half of the limit is kept")
	}
	for _, v := range []string{"abc", "def", "ghi"} {
		c.Put(v, v)
	}
	for v, want := range map[string]bool{"abc": false, "def": true, "ghi": true} {
		if _, ok := c.Get(v); ok != want {
			t.Errorf("%s is kept: %v", v, ok)
		}
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	c := recent.Cache[int, int]{Most: 2}
	bad := errors.New("bad")
	if _, err := c.Load(t.Context(), 1, func(context.Context) (int, error) { return 0, bad }); err != bad {
		t.Error(err)
	}
	if v, err := c.Load(t.Context(), 1, func(context.Context) (int, error) { return 5, nil }); v != 5 || err != nil {
		t.Errorf("then %d, %v", v, err)
	}
}

func TestLoadsAreShared(t *testing.T) {
	c := recent.Cache[int, int]{Most: 2}
	ctx, cancel := context.WithCancel(t.Context())
	reads, reading, goOn := 0, make(chan struct{}), make(chan struct{})
	var readers sync.WaitGroup
	load := func() {
		v, err := c.Load(ctx, 1, func(ctx context.Context) (int, error) {
			reads++
			close(reading)
			<-goOn
			return 5, ctx.Err()
		})
		if v != 5 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	}
	readers.Go(load)
	<-reading
	cancel()
	readers.Go(load)
	readers.Go(load)
	close(goOn)
	readers.Wait()
	if reads != 1 {
		t.Errorf("it was read %d times", reads)
	}
}
