package secrets

// An automaton finds keywords in a text in one pass, whatever their case (Aho and Corasick, 1975).
type automaton struct {
	class   [256]uint8 // by byte; 0 for those in no keyword
	classes int
	next    []int32   // by state * classes + class
	words   [][]int32 // by state: the keywords that end there
	length  []int32   // by keyword
}

// newAutomaton returns the automaton of lower-case keywords.
func newAutomaton(keywords []string) *automaton {
	a := &automaton{classes: 1, length: make([]int32, len(keywords))}
	for _, word := range keywords {
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
	states := 1
	for _, word := range keywords {
		states += len(word)
	}
	a.next = make([]int32, 0, states*a.classes)
	a.words = make([][]int32, 0, states)
	a.addState()
	for i, word := range keywords {
		a.length[i] = int32(len(word))
		state := int32(0)
		for j := range len(word) {
			at := int(state)*a.classes + int(a.class[word[j]])
			if a.next[at] == 0 {
				a.next[at] = a.addState()
			}
			state = a.next[at]
		}
		a.words[state] = append(a.words[state], int32(i))
	}
	a.link()
	return a
}

func (a *automaton) addState() int32 {
	a.next = a.next[:len(a.next)+a.classes] // there is room for all states
	a.words = append(a.words, nil)
	return int32(len(a.words) - 1)
}

// link completes the transitions, breadth first: a state without one for a class goes where its longest proper suffix goes.
func (a *automaton) link() {
	suffix := make([]int32, len(a.words))
	var queue []int32
	for c := range a.classes {
		if to := a.next[c]; to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		a.words[state] = append(a.words[state], a.words[suffix[state]]...)
		for c := range a.classes {
			at, other := int(state)*a.classes+c, a.next[int(suffix[state])*a.classes+c]
			if to := a.next[at]; to != 0 {
				suffix[to] = other
				queue = append(queue, to)
			} else {
				a.next[at] = other
			}
		}
	}
}

// find calls found for each occurrence of a keyword, in the order of their ends.
func (a *automaton) find(text []byte, found func(word int32, start, end int)) {
	state := 0
	for i, c := range text {
		state = int(a.next[state*a.classes+int(a.class[c])])
		if words := a.words[state]; words != nil {
			for _, word := range words {
				found(word, i+1-int(a.length[word]), i+1)
			}
		}
	}
}
