package blame

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A content is a text, represented by the digests of its lines without their line ends.
type content struct {
	id    string // Git's id of the blob, as in the versions of resources
	lines []uint64
}

func contentOf(by oid.Hash, seed maphash.Seed, data []byte) content {
	return content{id: odb.Sum(by, odb.Blob, data).String(), lines: digests(seed, data)}
}

func digests(seed maphash.Seed, data []byte) []uint64 {
	lines := make([]uint64, 0, bytes.Count(data, []byte{'\n'})+1)
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		lines = append(lines, maphash.Bytes(seed, bytes.TrimSuffix(line, []byte{'\r'})))
		data = rest
	}
	return lines
}

// match returns, for each line of b, the number of the corresponding equal line of a, or -1 if
// there is none.
func match(a, b []uint64) []int {
	to := slices.Repeat([]int{-1}, len(b))
	matchRange(a, b, 0, 0, to, 0)
	return to
}

// maxNested is the maximum nesting of ranges between anchors.
const maxNested = 64

// matchRange matches the lines a and b, which begin at lines ai and bi of the whole texts. It
// stores the result in to.
func matchRange(a, b []uint64, ai, bi int, to []int, depth int) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		to[bi] = ai
		a, b, ai, bi = a[1:], b[1:], ai+1, bi+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		to[bi+len(b)-1] = ai + len(a) - 1
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 || shortest(a, b, ai, bi, to) || depth > maxNested {
		return
	}
	from, next := 0, 0
	for _, p := range domarkx.Anchors(a, b) {
		matchRange(a[from:p.Old], b[next:p.New], ai+from, bi+next, to, depth+1)
		to[bi+p.New] = ai + p.Old
		from, next = p.Old+1, p.New+1
	}
	if from > 0 {
		matchRange(a[from:], b[next:], ai+from, bi+next, to, depth+1)
	}
}

// maxEdits is the maximum number of insertions and deletions that shortest tries.
const maxEdits = 96

// shortest matches the lines of a and b by a shortest edit script (Myers, "An O(ND) Difference
// Algorithm and Its Variations", 1986). It returns false if that needs more than maxEdits edits.
func shortest(a, b []uint64, ai, bi int, to []int) bool {
	const middle = maxEdits + 1
	var far [2*maxEdits + 3]int // the furthest line of a on each diagonal, plus middle
	var steps [maxEdits + 1][]int
	for d := 0; d <= maxEdits; d++ {
		steps[d] = append([]int(nil), far[middle-d-1:middle+d+2]...)
		for k := -d; k <= d; k += 2 {
			x := far[middle+k-1] + 1
			if k == -d || k != d && far[middle+k-1] < far[middle+k+1] {
				x = far[middle+k+1]
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			far[middle+k] = x
			if k != len(a)-len(b) || x < len(a) {
				continue
			}
			backtrack(steps[:d+1], len(a), len(b), func(x, y int) { to[bi+y] = ai + x })
			return true
		}
	}
	return false
}

// backtrack calls pair for the pairs of equal lines on the shortest path to (x, y). steps[d] holds
// the furthest line of a before step d on each diagonal, from diagonal -d-1 on.
func backtrack(steps [][]int, x, y int, pair func(x, y int)) {
	for d := len(steps) - 1; d >= 0; d-- {
		far := func(k int) int { return steps[d][k+d+1] }
		k := x - y
		before := k - 1
		if k == -d || k != d && far(k-1) < far(k+1) {
			before = k + 1
		}
		fromX := far(before)
		fromY := fromX - before
		if d == 0 {
			fromX, fromY = 0, 0
		}
		for x > fromX && y > fromY {
			x, y = x-1, y-1
			pair(x, y)
		}
		if d > 0 {
			x, y = fromX, fromY
		}
	}
}

// common returns approximately how many lines a text shares with the lines counted in bag, in any
// order. It counts a line each time that it is repeated, even if bag has it less often.
func common(bag map[uint64]int, lines []uint64) int {
	n := 0
	for _, h := range lines {
		if bag[h] > 0 {
			n++
		}
	}
	return n
}

func bagOf(lines []uint64) map[uint64]int {
	bag := make(map[uint64]int, len(lines))
	for _, h := range lines {
		bag[h]++
	}
	return bag
}
