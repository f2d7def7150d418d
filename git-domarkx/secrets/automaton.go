package secrets

import "slices"

// An automaton finds all occurrences of keywords in a text in one pass, regardless of case (Aho and
// Corasick, 1975).
type automaton struct {
	class   [256]uint8 // class of each byte; 0 for bytes in no keyword
	classes int
	next    []uint16  // next state, indexed by state * classes + class
	ends    []uint16  // state → index in words of the keywords that end there
	words   [][]int32 // lists of keywords; the first list is empty
	length  []int32   // keyword → its length
}

// newAutomaton returns the automaton for keywords in lower case. In total they have less than 64 KiB
// ([maxWords]), so that numbers of states fit into 16 bits.
func newAutomaton(keywords []string) *automaton {
	a := &automaton{classes: 1, length: make([]int32, len(keywords)), words: make([][]int32, 1, len(keywords)+1)}
	states := 1
	for _, word := range keywords {
		states += len(word)
		for i := range len(word) {
			c := word[i]
			if a.class[c] == 0 {
				a.class[c] = uint8(a.classes)
				a.classes++
				if 'a' <= c && c <= 'z' {
					a.class[c-'a'+'A'] = a.class[c]
				}
			}
		}
	}
	// Until a state is linked, 0 is the state after a byte that no keyword has there: no keyword leads back to the first state.
	a.next, a.ends = make([]uint16, states*a.classes), make([]uint16, states)
	last := uint16(0)
	for i, word := range keywords {
		a.length[i] = int32(len(word))
		state := uint16(0)
		for j := range len(word) {
			to := &a.next[int(state)*a.classes+int(a.class[word[j]])]
			if *to == 0 {
				last++
				*to = last
			}
			state = *to
		}
		if a.ends[state] == 0 {
			a.ends[state] = a.list(nil)
		}
		at := a.ends[state]
		a.words[at] = append(a.words[at], int32(i))
	}
	a.link(int(last) + 1)
	return a
}

// list adds a list of keywords and returns its index.
func (a *automaton) list(words []int32) uint16 {
	a.words = append(a.words, words)
	return uint16(len(a.words) - 1)
}

// link sets the other transitions, breadth first. For a byte that no keyword has there, a state goes to the same
// state as its longest proper suffix.
func (a *automaton) link(states int) {
	suffix, queue := make([]uint16, states), make([]uint16, 1, states)
	for i := 0; i < len(queue); i++ {
		state, of := queue[i], suffix[queue[i]]
		switch own, more := a.ends[state], a.ends[of]; {
		case state == 0 || more == 0:
		case own == 0:
			a.ends[state] = more
		default:
			a.ends[state] = a.list(slices.Concat(a.words[own], a.words[more]))
		}
		row, other := a.next[int(state)*a.classes:][:a.classes], a.next[int(of)*a.classes:][:a.classes]
		for c, to := range row {
			switch {
			case to != 0:
				if queue = append(queue, to); state != 0 {
					suffix[to] = other[c]
				}
			case state != 0:
				row[c] = other[c]
			}
		}
	}
}

// find calls found for each occurrence of a keyword, sorted by the occurrences' ends.
func (a *automaton) find(text []byte, found func(word int32, start, end int)) {
	state := 0
	for i, c := range text {
		state = int(a.next[state*a.classes+int(a.class[c])])
		if ends := a.ends[state]; ends != 0 {
			for _, word := range a.words[ends] {
				found(word, i+1-int(a.length[word]), i+1)
			}
		}
	}
}
