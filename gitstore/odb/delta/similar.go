package delta

import "encoding/binary"

// Samples of the segments that were added last, so that a segment which repeats much of one of them is
// found: what agents read and send again, such as files and prompts.
type samples [1 << 13]sample

// A sample is a place in a base whose neighbourhood has this hash.
type sample struct {
	hash uint32
	base int32 // its index in the window, from 1
}

// spread makes the bits of a byte matter for all bits of a hash.
const spread = 0x9e3779b1

// minSamples is the number of samples below which an object is not compared.
const minSamples = 16

// PutSimilar is Put for content that may repeat more than half of an earlier base. If it does, a delta
// against that is appended to dst. The object is a base for others either way, but only while it is in
// memory if it is a delta itself.
func (w *Window) PutSimilar(dst, content []byte) (delta []byte, base, own *Base) {
	if len(content) < minBase || len(content) > maxBase {
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

// mostSimilar returns the base that has most of the samples, -1 if it has less than half of them.
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

// appendSamples appends the hashes of the content's samples. They depend on the 32 bytes before them
// only, so that they are the same wherever a text stands.
func appendSamples(hashes []uint32, content []byte) []uint32 {
	var spreads [256]uint32
	for c := range spreads {
		spreads[c] = uint32(byte(c+1)) * spread
	}
	h := uint32(0)
	for ; len(content) >= 8; content = content[8:] { // eight at once take two thirds of the time
		x := binary.LittleEndian.Uint64(content)
		a := h<<1 + spreads[byte(x)]
		b := a<<1 + spreads[byte(x>>8)]
		c := b<<1 + spreads[byte(x>>16)]
		d := c<<1 + spreads[byte(x>>24)]
		e := d<<1 + spreads[byte(x>>32)]
		f := e<<1 + spreads[byte(x>>40)]
		g := f<<1 + spreads[byte(x>>48)]
		h = g<<1 + spreads[byte(x>>56)]
		if a < sampled || b < sampled || c < sampled || d < sampled || e < sampled || f < sampled || g < sampled || h < sampled {
			hashes = appendSampled(hashes, a, b, c, d, e, f, g, h)
		}
	}
	for _, c := range content {
		h = h<<1 + spreads[c]
		hashes = appendSampled(hashes, h)
	}
	return hashes
}

// sampled is the bound of the hashes that are samples: one place of 512.
const sampled = 1 << 23

func appendSampled(samples []uint32, hashes ...uint32) []uint32 {
	for _, h := range hashes {
		if h < sampled {
			samples = append(samples, h)
		}
	}
	return samples
}
