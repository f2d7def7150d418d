package delta

// Samples are hashes at some places of the segments that were added last. They find a segment that repeats much of an
// earlier one, since agents read and send the same files and prompts again and again.
type samples [1 << 13]sample

// A sample is a place in a base: the hash of the bytes before the place is its key.
type sample struct {
	hash uint32
	base int32 // index of the base in the window, from 1
}

// spread mixes the bits of a byte, so that each of them changes all bits of a hash.
const spread = 0x9e3779b1

// minSamples is the number of samples below which an object is not compared with others.
const minSamples = 16

// PutSimilar is like Put, for content that may repeat an earlier base by more than half. If it does, PutSimilar
// appends a delta against that base to dst. The object itself becomes a base too; if it is stored as a delta, it is one
// only as long as it is in memory.
func (w *Window) PutSimilar(dst, content []byte) (delta []byte, base, own *Base) {
	if !IsBase(int64(len(content))) {
		return dst, nil, nil
	}
	w.sampled = appendSamples(w.sampled[:0], content)
	if i := w.mostSimilar(); i >= 0 {
		if b := w.base(i); b != nil {
			if delta, found := b.appendDelta(dst, content); found == most {
				return delta, b, w.Put(content)
			}
		}
	}
	own = w.Put(content)
	for _, hash := range w.sampled {
		w.samples[hash%uint32(len(w.samples))] = sample{hash, int32(len(w.bases))}
	}
	return dst, nil, own
}

// mostSimilar returns the index of the base that has most of the samples, or -1 if none has at least half of them.
func (w *Window) mostSimilar() int {
	if len(w.sampled) < minSamples {
		return -1
	}
	votes := map[int32]int{}
	best := int32(0)
	for _, hash := range w.sampled {
		if s := w.samples[hash%uint32(len(w.samples))]; s.hash == hash && s.base > 0 {
			if votes[s.base]++; votes[s.base] > votes[best] {
				best = s.base
			}
		}
	}
	if 2*votes[best] < len(w.sampled) {
		return -1
	}
	return int(best) - 1
}

// appendSamples appends the hashes of the content's samples. A hash depends only on the 32 bytes before its place, so
// that a text has the same samples wherever it stands.
func appendSamples(hashes []uint32, content []byte) []uint32 {
	var spreads [256]uint32
	for c := range spreads {
		spreads[c] = uint32(byte(c+1)) * spread
	}
	h := uint32(0)
	for _, c := range content {
		if h = h<<1 + spreads[c]; h < sampled {
			hashes = append(hashes, h)
		}
	}
	return hashes
}

// sampled is the bound below which a hash is a sample: about one place of 512.
const sampled = 1 << 23
