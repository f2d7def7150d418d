package search

import (
	"encoding/binary"
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

// signatureBits returns the logarithm of the number of bits for a text.
func signatureBits(size int) int {
	return min(max(bits.Len(uint(size/8)), signatureMin), signatureMax)
}

// hashRun returns the hash of a run, which is in the lower three bytes of its argument.
func hashRun(run uint32) uint32 { return (run | foldRun) << 8 * 0x9e3779b1 }

// foldRun contains the bits to set in a run, which convert capital letters to small ones. They also make some other
// characters equal, which only costs precision.
const foldRun = 0x202020

// A signer makes signatures.
type signer struct{ seen [1 << signatureMax]byte }

// last is the highest bit. It stands in expressions where the compiler would otherwise check a bound.
const last = 1<<signatureMax - 1

// sign returns the signature of a text.
func (s *signer) sign(text []byte) signature {
	log := signatureBits(len(text))
	shift := uint(32 - log)
	seen, i := &s.seen, 0
	for ; i+8 <= len(text); i += 6 {
		eight := binary.LittleEndian.Uint64(text[i:])
		seen[hashRun(uint32(eight))>>shift&last] = 1
		seen[hashRun(uint32(eight>>8))>>shift&last] = 1
		seen[hashRun(uint32(eight>>16))>>shift&last] = 1
		seen[hashRun(uint32(eight>>24))>>shift&last] = 1
		seen[hashRun(uint32(eight>>32))>>shift&last] = 1
		seen[hashRun(uint32(eight>>40))>>shift&last] = 1
	}
	for ; i+runSize <= len(text); i++ {
		seen[hashRun(run(text[i:]))>>shift&last] = 1
	}
	packed := make(signature, 1<<log/8)
	for i := range packed {
		// The multiplication moves the lowest bits of eight bytes into the highest byte.
		packed[i] = byte(binary.LittleEndian.Uint64(seen[8*i:]) * 0x0102040810204080 >> 56)
	}
	clear(seen[:1<<log])
	return packed
}

// run returns the first run of a text.
func run(text []byte) uint32 { return uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 }

// runs returns the hashes of the runs in a text.
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
