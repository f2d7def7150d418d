package secrets

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
	t := trie{first: make([]int32, 1, states), edges: make([]edge, 1, states)}
	a.ends = make([]uint16, 1, states)
	for i, word := range keywords {
		a.length[i] = int32(len(word))
		state := uint16(0)
		for j := range len(word) {
			state = t.child(state, a.class[word[j]])
		}
		for len(a.ends) < len(t.first) {
			a.ends = append(a.ends, 0)
		}
		if a.ends[state] == 0 {
			a.ends[state] = a.list(nil, nil)
		}
		at := a.ends[state]
		a.words[at] = append(a.words[at], int32(i))
	}
	a.link(t)
	return a
}

// A trie holds the edges between the states of an automaton. Edges are linked lists, which end with
// index 0.
type trie struct {
	first []int32 // state → its first edge
	edges []edge
}

type edge struct {
	class uint8
	to    uint16
	other int32 // the next edge from the same state
}

// child returns the state that a state goes to for a class. It adds the edge if it is missing.
func (t *trie) child(state uint16, class uint8) uint16 {
	for e := t.first[state]; e != 0; e = t.edges[e].other {
		if t.edges[e].class == class {
			return t.edges[e].to
		}
	}
	to := uint16(len(t.first))
	t.edges = append(t.edges, edge{class, to, t.first[state]})
	t.first[state] = int32(len(t.edges) - 1)
	t.first = append(t.first, 0)
	return to
}

// list adds a list of keywords and returns its index.
func (a *automaton) list(words, more []int32) uint16 {
	a.words = append(a.words, append(words[:len(words):len(words)], more...))
	return uint16(len(a.words) - 1)
}

// link sets the transitions, breadth first. For a class without an edge, a state goes to the same
// state as its longest proper suffix.
func (a *automaton) link(t trie) {
	a.next = make([]uint16, len(t.first)*a.classes)
	suffix := make([]uint16, len(t.first))
	queue := make([]uint16, 1, len(t.first))
	for i := 0; i < len(queue); i++ {
		state, of := queue[i], suffix[queue[i]]
		row := a.next[int(state)*a.classes:][:a.classes]
		copy(row, a.next[int(of)*a.classes:])
		switch own, more := a.ends[state], a.ends[of]; {
		case state == 0 || more == 0:
		case own == 0:
			a.ends[state] = more
		default:
			a.ends[state] = a.list(a.words[own], a.words[more])
		}
		for e := t.first[state]; e != 0; e = t.edges[e].other {
			to := t.edges[e].to
			if state != 0 {
				suffix[to] = row[t.edges[e].class]
			}
			row[t.edges[e].class] = to
			queue = append(queue, to)
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
