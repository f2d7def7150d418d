package domarkx

import (
	"slices"
	"sort"
)

// A Key identifies the content of a message, including its exact bytes: messages with equal keys
// are equal.
type Key [32]byte

// Likeness grades how likely one message is an edit of another.
type Likeness int

// The degrees of likeness.
const (
	Unlike   Likeness = 0 // not an edit: role and text differ
	Possible Likeness = 1 // perhaps an edit that rewrote the message
	Recast   Likeness = 2 // most of the text is the same, under another role
	Alike    Likeness = 3 // most of the text is the same
	equal    Likeness = 7
)

// An Alignment maps new messages to old ones, by index.
type Alignment struct {
	Match []int // for each new message, the old one that it continues, edited or not, or -1; ascending
	Moved []int // for each new message without a match, a removed old one that equals it, or -1
}

// Align reports what an edit did to a list of messages. It first matches equal messages in the same
// order. Between those, it matches messages that alike considers edits: alike compares an old and a
// new message by index. Align takes O(n log n) time plus a bounded number of comparisons between
// each pair of matched messages.
func Align(old, new []Key, alike func(old, new int) Likeness) Alignment {
	a := aligner{old: old, new: new, alike: alike}
	a.match = slices.Repeat([]int{-1}, len(new))
	a.align(0, len(old), 0, len(new), true)
	return Alignment{Match: a.match, Moved: a.moves()}
}

// limit is the number of messages in a gap up to which all its messages are compared with each
// other.
const limit = 300

type aligner struct {
	old, new []Key
	alike    func(old, new int) Likeness
	match    []int
}

func (a *aligner) align(o, oEnd, n, nEnd int, anchors bool) {
	for o < oEnd && n < nEnd && a.old[o] == a.new[n] {
		a.match[n] = o
		o, n = o+1, n+1
	}
	for o < oEnd && n < nEnd && a.old[oEnd-1] == a.new[nEnd-1] {
		oEnd, nEnd = oEnd-1, nEnd-1
		a.match[nEnd] = oEnd
	}
	if o == oEnd || n == nEnd {
		return
	}
	if anchors {
		first, second := o, n
		for _, p := range append(Anchors(a.old[o:oEnd], a.new[n:nEnd]), Anchor{oEnd - o, nEnd - n}) {
			at, to := first+p.Old, second+p.New
			a.align(o, at, n, to, false)
			if to < nEnd {
				a.match[to] = at
			}
			o, n = at+1, to+1
		}
		return
	}
	a.gap(o, oEnd, n, nEnd)
}

// An Anchor is an element of two lists, by its indexes.
type Anchor struct{ Old, New int }

// Anchors returns a longest sequence of the elements that occur exactly once in each of two lists and are in the same order in both
// (patience diff).
func Anchors[K comparable](old, new []K) []Anchor {
	type count struct{ old, new, at int }
	counts := make(map[K]count, len(old))
	for i, key := range old {
		c := counts[key]
		c.old, c.at = c.old+1, i
		counts[key] = c
	}
	for _, key := range new {
		if c, ok := counts[key]; ok {
			c.new++
			counts[key] = c
		}
	}
	var unique []Anchor
	for j, key := range new {
		if c, ok := counts[key]; ok && c.old == 1 && c.new == 1 {
			unique = append(unique, Anchor{c.at, j})
		}
	}
	return longestRising(unique)
}

// longestRising returns the longest subsequence of pairs with rising old indexes.
func longestRising(pairs []Anchor) []Anchor {
	var tails []int // index of the pair that ends the best run of each length
	before := make([]int, len(pairs))
	for i, p := range pairs {
		at := sort.Search(len(tails), func(k int) bool { return pairs[tails[k]].Old >= p.Old })
		before[i] = -1
		if at > 0 {
			before[i] = tails[at-1]
		}
		if at == len(tails) {
			tails = append(tails, i)
		} else {
			tails[at] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	run := make([]Anchor, 0, len(tails))
	for i := tails[len(tails)-1]; i >= 0; i = before[i] {
		run = append(run, pairs[i])
	}
	slices.Reverse(run)
	return run
}

// gap matches messages between two anchors so that the sum of their likeness is greatest. If a gap
// has too many messages for that, it matches them by position.
func (a *aligner) gap(o, oEnd, n, nEnd int) {
	rows, cols := oEnd-o, nEnd-n
	if rows > limit || cols > limit {
		for k := range min(rows, cols) {
			if a.likeness(o+k, n+k) > Unlike {
				a.match[n+k] = o + k
			}
		}
		return
	}
	best := make([][]Likeness, rows+1)
	best[rows] = make([]Likeness, cols+1)
	weights := make([][]Likeness, rows)
	for i := rows - 1; i >= 0; i-- {
		best[i], weights[i] = make([]Likeness, cols+1), make([]Likeness, cols)
		for j := cols - 1; j >= 0; j-- {
			w := a.likeness(o+i, n+j)
			weights[i][j] = w
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if w > 0 {
				best[i][j] = max(best[i][j], best[i+1][j+1]+w)
			}
		}
	}
	for i, j := 0, 0; i < rows && j < cols; {
		switch w := weights[i][j]; {
		case w > 0 && best[i][j] == best[i+1][j+1]+w:
			a.match[n+j] = o + i
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
}

func (a *aligner) likeness(o, n int) Likeness {
	if a.old[o] == a.new[n] {
		return equal
	}
	return a.alike(o, n)
}

// moves pairs new messages without a match with equal old messages without a match.
func (a *aligner) moves() []int {
	moved := slices.Repeat([]int{-1}, len(a.new))
	taken := make([]bool, len(a.old))
	for _, i := range a.match {
		if i >= 0 {
			taken[i] = true
		}
	}
	free := map[Key][]int{}
	for i, key := range a.old {
		if !taken[i] {
			free[key] = append(free[key], i)
		}
	}
	for j, key := range a.new {
		if a.match[j] < 0 && len(free[key]) > 0 {
			moved[j], free[key] = free[key][0], free[key][1:]
		}
	}
	return moved
}
