package inflate

import "encoding/binary"

const (
	maxMatch = 258
	// matchRoom is the largest number of bytes that are written when a match is copied in steps of eight.
	matchRoom = (maxMatch + 7) / 8 * 8
	// Slack is the number of bytes that fast may write beyond the end of the output: two literals and a match.
	Slack = 2 + matchRoom
)

func (d *decoder) block(c *tables) error {
	if more, err := d.fast(c); !more {
		return err
	}
	for {
		d.refill()
		e := c.lit[d.bits&(1<<litBits-1)]
		if e&isTable != 0 {
			if d.count < litBits {
				return errTruncated
			}
			d.take(litBits)
			e = c.lit[e>>16+uint32(d.bits)&(1<<(e>>8&15)-1)]
		}
		if e&isBad != 0 {
			return errInvalid
		}
		if uint(e&0xff) > d.count {
			return errTruncated
		}
		value := d.value(e)
		if e&isEnd != 0 {
			return nil
		}
		if e&isLiteral != 0 {
			if d.end == len(d.dst) {
				return errLonger
			}
			d.dst[d.end] = byte(value)
			d.end++
			continue
		}
		d.refill()
		e = c.dist[d.bits&(1<<distBits-1)]
		if e&isTable != 0 {
			if d.count < distBits {
				return errTruncated
			}
			d.take(distBits)
			e = c.dist[e>>16+uint32(d.bits)&(1<<(e>>8&15)-1)]
		}
		if e&isBad != 0 {
			return errInvalid
		}
		if uint(e&0xff) > d.count {
			return errTruncated
		}
		distance := d.value(e)
		if distance > d.end {
			return errInvalid
		}
		if value > len(d.dst)-d.end {
			return errLonger
		}
		for range value {
			d.dst[d.end] = d.dst[d.end-distance]
			d.end++
		}
	}
}

// value consumes the bits of an entry and returns its literal, length or distance.
func (d *decoder) value(e uint32) int {
	code := e >> 8 & 15
	return int(e>>16) + int(d.take(uint(e&0xff))>>code)
}

// fast decodes a block as long as input and output are far from their ends, so that it need not check bounds for each
// byte. more reports whether the block continues.
//
// The speed of the loop depends on the chain from the bits to a table entry to the next bits. So the loop loads the
// next entry before it reads more bits, and subtracts whole entries from count: only the lowest six bits of count
// are used.
func (d *decoder) fast(c *tables) (more bool, err error) {
	src, dst, end, bits, count := d.src[d.at:], d.dst[:cap(d.dst)], d.end, d.bits, uint32(d.count)
	lit, dist := &c.lit, &c.dist
	if len(src) < 8 {
		return true, nil
	}
	bits |= binary.LittleEndian.Uint64(src) << (count & 63)
	src = src[^count>>3&7:]
	count |= 56
	more = true
	e := lit[bits&(1<<litBits-1)]
	for len(src) >= 16 && end+Slack <= len(dst) {
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
				return false, errInvalid
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
				return false, errInvalid
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
			return false, errInvalid
		}
		if distance >= 8 {
			// Most matches are shorter than 16 bytes. To copy 16 always is faster than to compare the length.
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
	if end > len(d.dst) {
		return false, errLonger
	}
	d.at, d.end, d.bits, d.count = len(d.src)-len(src), end, bits, uint(count&63)
	return more, nil
}
