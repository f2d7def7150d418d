package odb

import "encoding/binary"

const (
	maxMatch = 258
	// slack is how much further than it should the fast loop may write.
	slack = maxMatch + 8
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
func (u *unpacker) fast(c *codes) (more bool, err error) {
	src, dst, at, end, bits, count := u.src, u.dst[:cap(u.dst)], u.at, u.end, u.bits, u.count
	lit, dist := &c.lit, &c.dist
	more = true
	for at+16 <= len(src) && end+slack <= len(dst) {
		bits |= binary.LittleEndian.Uint64(src[at:]) << count
		at += int((63 - count) >> 3)
		count |= 56
		e := lit[bits&(1<<litBits-1)]
		if e&isLiteral != 0 {
			bits >>= e & 63
			count -= uint(e & 63)
			dst[end] = byte(e >> 16)
			end++
			if e = lit[bits&(1<<litBits-1)]; e&isLiteral != 0 {
				bits >>= e & 63
				count -= uint(e & 63)
				dst[end] = byte(e >> 16)
				end++
				if e = lit[bits&(1<<litBits-1)]; e&isLiteral != 0 {
					bits >>= e & 63
					count -= uint(e & 63)
					dst[end] = byte(e >> 16)
					end++
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
				count -= uint(e & 63)
				if e&isEnd != 0 {
					more = false
					break
				}
				dst[end] = byte(e >> 16)
				end++
				continue
			}
		}
		length := int(e>>16) + int(bits&(1<<(e&63)-1)>>(e>>8&15))
		bits >>= e & 63
		count -= uint(e & 63)

		bits |= binary.LittleEndian.Uint64(src[at:]) << count
		at += int((63 - count) >> 3)
		count |= 56
		e = dist[bits&(1<<distBits-1)]
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
		count -= uint(e & 63)
		from := end - distance
		if from < 0 {
			return false, errNotDeflated
		}
		to := end + length
		if distance >= 8 {
			for ; end < to; end, from = end+8, from+8 {
				binary.LittleEndian.PutUint64(dst[end:], binary.LittleEndian.Uint64(dst[from:]))
			}
			end = to
		}
		for ; end < to; end, from = end+1, from+1 {
			dst[end] = dst[from]
		}
	}
	if end > len(u.dst) {
		return false, errLonger
	}
	u.at, u.end, u.bits, u.count = at, end, bits, count
	return more, nil
}
