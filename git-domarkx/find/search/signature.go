package search

import (
	"math/bits"
)

// A signature is the set of the runs of three bytes in a text, without the case of ASCII letters: a bit for the hash of
// each run. A text has all bits of each text that it contains. So -F and -e need not read and decompress texts that
// cannot contain a literal. A signature has at most a thirtieth of the size of the text.
type signature []byte

// A signature has a bit for each four to eight bytes of text, within these limits. The number of bits is a power of
// two.
const (
	signatureMin = 12 // as the logarithm of the number of bits
	signatureMax = 20
	runSize      = 3
)

// hashRun returns the hash of a run, which is in the lower three bytes of its argument.
func hashRun(run uint32) uint32 { return (run | foldRun) << 8 * 0x9e3779b1 }

// foldRun contains the bits to set in a run, which convert capital letters to small ones. They also make some other
// characters equal, which only costs precision.
const foldRun = 0x202020

func sign(text []byte) signature {
	log := min(max(bits.Len(uint(len(text)/8)), signatureMin), signatureMax)
	s := make(signature, 1<<log/8)
	for i := range max(0, len(text)-runSize+1) {
		at := hashRun(run(text[i:])) >> (32 - log)
		s[at/8] |= 1 << (at % 8)
	}
	return s
}

func run(text []byte) uint32 { return uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 }

func runs(text []byte) (all []uint32) {
	for i := 0; i+runSize <= len(text); i++ {
		all = append(all, hashRun(run(text[i:])))
	}
	return all
}

// has reports whether the text may contain all of the given runs.
func (s signature) has(runs []uint32) bool {
	if len(s) == 0 || len(s)&(len(s)-1) != 0 {
		return true // an empty or invalid signature excludes nothing
	}
	shift := uint(32 - bits.Len(uint(8*len(s)-1)))
	for _, r := range runs {
		if at := r >> shift; s[at/8]>>(at%8)&1 == 0 {
			return false
		}
	}
	return true
}
