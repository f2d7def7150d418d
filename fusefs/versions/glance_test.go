//go:build linux || darwin

package versions_test

import (
	"testing"
	"time"

	"github.com/domarkx/domarkx/fusefs/versions"
)

func TestOnlyNamesAreToldToWhoAsksForNothingElse(t *testing.T) {
	g := versions.NewGlance(2000, 30)
	now := time.Unix(1e9, 0)
	brief := func(from, to int) (n int) {
		for i := range to - from {
			if g.Lists(from+i, now) {
				n++
			}
		}
		return n
	}
	if n := brief(0, 8); n != 0 {
		t.Errorf("%d of the first folders are listed briefly", n)
	}
	if n := brief(8, 100); n != 92 {
		t.Errorf("%d of 92 folders are listed briefly while nobody wants a file", n)
	}
	for i := range 7 {
		if n := g.Wants(50); n != 0 {
			t.Errorf("%d folders are listed anew after %d files", n, i+1)
		}
	}
	if n := g.Wants(51); n != 92 {
		t.Errorf("%d of 92 brief folders are listed anew", n)
	}
	if n := brief(50, 114); n != 0 {
		t.Errorf("%d folders are listed briefly soon after that was wrong", n)
	}
	if n := brief(114, 120); n != 6 {
		t.Errorf("%d of 6 folders are listed briefly after long patience", n)
	}
	g.Wants(3)
	if n := brief(120, 180); n != 0 {
		t.Errorf("%d folders are listed briefly after one with a file that somebody wanted", n)
	}
	now = now.Add(time.Hour)
	if n := brief(200, 210); n != 2 {
		t.Errorf("%d of 10 folders are listed briefly later", n)
	}
	large := versions.NewGlance(20, 1000)
	for i := range 20 {
		if large.Lists(i, now) {
			t.Errorf("large folder %d is listed briefly", i)
		}
	}
}
