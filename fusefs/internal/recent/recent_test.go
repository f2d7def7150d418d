package recent_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/fusefs/internal/recent"
)

func TestTheLastUsedStay(t *testing.T) {
	c := recent.Cache[int, int]{Most: 8}
	var read []int
	load := func(key int) {
		if v, err := c.Load(key, func() (int, error) { read = append(read, key); return -key, nil }); v != -key || err != nil {
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
	if _, err := c.Load(1, func() (int, error) { return 0, bad }); err != bad {
		t.Error(err)
	}
	if v, err := c.Load(1, func() (int, error) { return 5, nil }); v != 5 || err != nil {
		t.Errorf("then %d, %v", v, err)
	}
}
