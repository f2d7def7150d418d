package search

import (
	"bytes"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// An automaton decides whether a text has a match of a regular expression. It is many times as fast as package regexp,
// because it remembers to which state each character leads: it is a deterministic automaton that makes its states when
// it first reaches them. Only one goroutine at a time may use it.
type automaton struct {
	prog   *syntax.Prog
	states map[string]*state
	first  *state
	found  *state // the state after a match
	flags  syntax.EmptyOp
	tested syntax.EmptyOp // assertions that the program contains
	marked []bool         // instructions in set
	set    []uint32       // instructions that the last closure has found
}

// A state is a set of instructions of the program that may be next, and the kind of the last character.
type state struct {
	next    [utf8.RuneSelf]*state // next states, by character
	wide    map[rune]*state
	last    rune
	starts  []uint32
	atEnd   bool // whether a text that ends here matches
	knowEnd bool
	dead    bool // whether no match can begin or continue before the next line
}

// maxStates limits the memory of an automaton. One that needs more states drops all and starts again.
const maxStates = 1000

// newAutomaton returns an automaton for a valid expression.
func newAutomaton(pattern string) (*automaton, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, err
	}
	a := &automaton{prog: prog, found: &state{}, marked: make([]bool, len(prog.Inst))}
	for _, i := range prog.Inst {
		if i.Op == syntax.InstEmptyWidth {
			a.tested |= syntax.EmptyOp(i.Arg)
		}
	}
	a.reset()
	return a, nil
}

func (a *automaton) reset() {
	a.states = map[string]*state{}
	a.first = a.state(-1, nil)
}

// match reports whether a text has a match.
func (a *automaton) match(text []byte) bool {
	s := a.first
	for i := 0; i < len(text); {
		if s.dead {
			if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
				i += n
			} else {
				break
			}
		}
		var next *state
		if c := text[i]; c < utf8.RuneSelf {
			i++
			if next = s.next[c]; next == nil {
				next = a.step(s, rune(c))
				s.next[c] = next
			}
		} else {
			r, size := utf8.DecodeRune(text[i:])
			i += size
			if next = s.wide[r]; next == nil {
				next = a.step(s, r)
				if s.wide == nil || len(s.wide) > maxStates {
					s.wide = map[rune]*state{}
				}
				s.wide[r] = next
			}
		}
		if next == a.found {
			return true
		}
		s = next
	}
	if !s.knowEnd {
		s.atEnd, s.knowEnd = a.closure(s, -1), true
	}
	return s.atEnd
}

// step returns the state after a character.
func (a *automaton) step(s *state, r rune) *state {
	if a.closure(s, r) {
		return a.found
	}
	var starts []uint32
	for _, pc := range a.set {
		if i := &a.prog.Inst[pc]; consumes(i, r) && !slices.Contains(starts, i.Out) {
			starts = append(starts, i.Out)
		}
	}
	slices.Sort(starts)
	return a.state(a.kind(r), starts)
}

// isConsumer reports whether an instruction matches characters.
func isConsumer(i *syntax.Inst) bool {
	switch i.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

// consumes reports whether an instruction matches a character.
func consumes(i *syntax.Inst, r rune) bool {
	switch i.Op {
	case syntax.InstRune, syntax.InstRune1:
		return i.MatchRune(r)
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return r != '\n'
	}
	return false
}

// kind returns a representative of the characters that the assertions of the program, such as ^ and \b, do not
// distinguish from r.
func (a *automaton) kind(r rune) rune {
	switch {
	case r == '\n' && a.tested&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0:
		return r
	case a.tested&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 && syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

// state returns the state with these instructions after a character of that kind.
func (a *automaton) state(last rune, starts []uint32) *state {
	key := binary.AppendVarint(nil, int64(last))
	for _, pc := range starts {
		key = binary.AppendUvarint(key, uint64(pc))
	}
	if s := a.states[string(key)]; s != nil {
		return s
	}
	if len(a.states) >= maxStates {
		a.reset()
	}
	s := &state{last: last, starts: starts}
	if last == ' ' && len(starts) == 0 && a.kind('a') == ' ' {
		s.dead = !a.closure(s, 'a') && !slices.ContainsFunc(a.set, func(pc uint32) bool { return isConsumer(&a.prog.Inst[pc]) })
	}
	a.states[string(key)] = s
	return s
}

// closure collects in set the instructions of a state that can match the next character r, which is -1 at the end of
// the text. A match may begin anywhere. closure reports whether a match ends before r.
func (a *automaton) closure(s *state, r rune) (matches bool) {
	for _, pc := range a.set {
		a.marked[pc] = false
	}
	a.set = a.set[:0]
	a.flags = syntax.EmptyOpContext(s.last, r)
	todo := append(slices.Clone(s.starts), uint32(a.prog.Start))
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if a.marked[pc] {
			continue
		}
		a.marked[pc], a.set = true, append(a.set, pc)
		switch i := &a.prog.Inst[pc]; i.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			todo = append(todo, i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^a.flags == 0 {
				todo = append(todo, i.Out)
			}
		}
	}
	return false
}
