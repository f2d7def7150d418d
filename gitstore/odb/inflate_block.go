package odb

import "encoding/binary"

const (
	maxMatch = 258
	// matchRoom is what copying the longest match in steps of eight bytes writes.
	matchRoom = (maxMatch + 7) / 8 * 8
	// slack is how much further than it should the fast loop may write: two literals and a
	// match.
	slack = 2 + matchRoom
)

// block unpacks a block that has these codes.
func (u *unpacker) block(c *codes) error {
	if more, err := u.fast(c); !more {
		return err
	}
	for {
		u.refill()
		e := c.lit[u.bits&(1<<litBits-1)]
		if e&isTable != 0 {
			if u.count < litBits {
				return errCutShort
			}
			u.take(litBits)
			e = c.lit[e>>16+uint32(u.bits)&(1<<(e>>8&15)-1)]
		}
		if e&isBad != 0 {
			return errNotDeflated
		}
		if uint(e&0xff) > u.count {
			return errCutShort
		}
		value := u.value(e)
		if e&isEnd != 0 {
			return nil
		}
		if e&isLiteral != 0 {
			if u.end == len(u.dst) {
				return errLonger
			}
			u.dst[u.end] = byte(value)
			u.end++
			continue
		}
		u.refill()
		e = c.dist[u.bits&(1<<distBits-1)]
		if e&isTable != 0 {
			if u.count < distBits {
				return errCutShort
			}
			u.take(distBits)
			e = c.dist[e>>16+uint32(u.bits)&(1<<(e>>8&15)-1)]
		}
		if e&isBad != 0 {
			return errNotDeflated
		}
		if uint(e&0xff) > u.count {
			return errCutShort
		}
		distance := u.value(e)
		if distance > u.end {
			return errNotDeflated
		}
		if value > len(u.dst)-u.end {
			return errLonger
		}
		for range value {
			u.dst[u.end] = u.dst[u.end-distance]
			u.end++
		}
	}
}

// value takes the bits of an entry and returns what they stand for.
func (u *unpacker) value(e uint32) int {
	code := e >> 8 & 15
	return int(e>>16) + int(u.take(uint(e&0xff))>>code)
}

// fast unpacks a block as long as neither what it reads nor what it writes is near
// its end, so that it need not look at each byte whether it is. It reports whether
// the block goes on.
//
// What it waits for is the way from the bits to an entry and on to the next bits. So
// the entry of what comes next is loaded before more bits are read, and entries are
// subtracted from the count as they are: only its lower six bits count.
func (u *unpacker) fast(c *codes) (more bool, err error) {
	src, dst, end, bits, count := u.src[u.at:], u.dst[:cap(u.dst)], u.end, u.bits, uint32(u.count)
	lit, dist := &c.lit, &c.dist
	if len(src) < 8 {
		return true, nil
	}
	bits |= binary.LittleEndian.Uint64(src) << (count & 63)
	src = src[^count>>3&7:]
	count |= 56
	more = true
	e := lit[bits&(1<<litBits-1)]
	for len(src) >= 16 && end+slack <= len(dst) {
		if e&isLiteral != 0 {
			bits >>= e & 63
			count -= e
			dst[end] = byte(e >> 16)
			end++
			if e = lit[bits&(1<<litBits-1)]; e&isLiteral != 0 {
				bits >>= e & 63
				count -= e
				dst[end] = byte(e >> 16)
				end++
				if e = lit[bits&(1<<litBits-1)]; e&isLiteral != 0 {
					bits >>= e & 63
					count -= e
					dst[end] = byte(e >> 16)
					end++
					e = lit[bits&(1<<litBits-1)]
					bits |= binary.LittleEndian.Uint64(src) << (count & 63)
					src = src[^count>>3&7:]
					count |= 56
					continue
				}
			}
		}
		if e&isOther != 0 {
			if e&isTable != 0 {
				bits >>= litBits
				count -= litBits
				e = lit[(e>>16+uint32(bits)&(1<<(e>>8&15)-1))%maxLitTable]
			}
			if e&isBad != 0 {
				return false, errNotDeflated
			}
			if e&(isEnd|isLiteral) != 0 {
				bits >>= e & 63
				count -= e
				if e&isEnd != 0 {
					more = false
					break
				}
				dst[end] = byte(e >> 16)
				end++
				e = lit[bits&(1<<litBits-1)]
				bits |= binary.LittleEndian.Uint64(src) << (count & 63)
				src = src[^count>>3&7:]
				count |= 56
				continue
			}
		}
		length := int(e>>16) + int(bits&(1<<(e&63)-1)>>(e>>8&15))
		bits >>= e & 63
		count -= e

		e = dist[bits&(1<<distBits-1)]
		bits |= binary.LittleEndian.Uint64(src) << (count & 63)
		src = src[^count>>3&7:]
		count |= 56
		if e&isOther != 0 {
			if e&isTable != 0 {
				bits >>= distBits
				count -= distBits
				e = dist[(e>>16+uint32(bits)&(1<<(e>>8&15)-1))%maxDistTable]
			}
			if e&isBad != 0 {
				return false, errNotDeflated
			}
		}
		distance := int(e>>16) + int(bits&(1<<(e&63)-1)>>(e>>8&15))
		bits >>= e & 63
		count -= e
		e = lit[bits&(1<<litBits-1)]
		bits |= binary.LittleEndian.Uint64(src) << (count & 63)
		src = src[^count>>3&7:]
		count |= 56

		from := end - distance
		if from < 0 {
			return false, errNotDeflated
		}
		if distance >= 8 {
			// Most are shorter than 16: to ask costs more than to copy.
			in, out := (*[matchRoom]byte)(dst[from:]), (*[matchRoom]byte)(dst[end:])
			binary.LittleEndian.PutUint64(out[:], binary.LittleEndian.Uint64(in[:]))
			binary.LittleEndian.PutUint64(out[8:], binary.LittleEndian.Uint64(in[8:]))
			for n := 16; n < length; n += 8 {
				binary.LittleEndian.PutUint64(out[n:], binary.LittleEndian.Uint64(in[n:]))
			}
			end += length
			continue
		}
		for to := end + length; end < to; end, from = end+1, from+1 {
			dst[end] = dst[from]
		}
	}
	if end > len(u.dst) {
		return false, errLonger
	}
	u.at, u.end, u.bits, u.count = len(u.src)-len(src), end, bits, uint(count&63)
	return more, nil
}
