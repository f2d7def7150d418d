package blame

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMatch checks that matched lines are equal and in order, and that no more is missed than a longest
// common subsequence has.
func TestMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.Uint64Range(1, 8)
		a := rapid.SliceOfN(line, 0, 40).Draw(t, "a")
		b := rapid.SliceOfN(line, 0, 40).Draw(t, "b")
		to := match(a, b)
		last, n := -1, 0
		for i, at := range to {
			if at < 0 {
				continue
			}
			if at <= last || a[at] != b[i] {
				t.Fatalf("line %d is matched with %d after %d", i, at, last)
			}
			last = at
			n++
		}
		if want := longest(a, b); n != want {
			t.Fatalf("%d lines are matched, a longest common subsequence has %d", n, want)
		}
	})
}

func longest(a, b []uint64) int {
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			if best[i+1][j+1] = max(best[i][j+1], best[i+1][j]); a[i] == b[j] {
				best[i+1][j+1] = best[i][j] + 1
			}
		}
	}
	return best[len(a)][len(b)]
}

// TestMatchRewritten compares texts that differ in more lines than a shortest script is searched for.
func TestMatchRewritten(t *testing.T) {
	var a, b []uint64
	for i := range uint64(3000) {
		a = append(a, i)
		if i%3 == 0 {
			b = append(b, 10000+i)
		} else {
			b = append(b, i)
		}
	}
	to := match(a, b)
	for i, at := range to {
		if want := i; i%3 == 0 && at != -1 || i%3 != 0 && at != want {
			t.Fatalf("line %d is matched with %d", i, at)
		}
	}
}

func TestNamesPath(t *testing.T) {
	for text, want := range map[string]bool{
		"cmd/main.go": true, "/work/shop/cmd/main.go": true, "./cmd/main.go": true, "main.go": true,
		"sed -i s/a/b/ cmd/main.go": true, "*** Update File: cmd/main.go\n": true, "cat main.go>x": true,
		"other/main.go": false, "main.golden": false, "xmain.go": false, "main_go": false, "": false, "cmd/main.go.orig": false,
		"cmd": false, "see cmd/xmain.go and cmd/main.go": true,
	} {
		if got := namesPath(text, "cmd/main.go"); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func FuzzNamesPath(f *testing.F) {
	f.Add("sed -i s/a/b/ cmd/main.go", "cmd/main.go")
	f.Fuzz(func(t *testing.T, text, path string) {
		if path == "" || strings.HasSuffix(path, "/") {
			return
		}
		if named := namesPath(text, path); named && !strings.Contains(text, path[strings.LastIndexByte(path, '/')+1:]) {
			t.Errorf("%q does not name %q", text, path)
		}
	})
}
