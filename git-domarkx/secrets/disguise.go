package secrets

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"unicode/utf8"
)

// A revealed text is another one, or parts of one, as its reader understands it: without colours, or decoded.
type revealed struct {
	text  []byte
	place func(start, end int) (from, to int) // the part of the original text that says text[start:end]
}

// disguises are the ways in which a text can spell a secret so that no rule recognizes it. Each returns nil if
// the text has no such parts.
var disguises = []func(text []byte) *revealed{controlled, entities, encoded}

// revealed returns the secrets that have a recognizable form once a text is decoded.
func (s *ruleSet) revealed(text []byte) []match {
	var found []match
	for _, reveal := range disguises {
		r := reveal(text)
		if r == nil {
			continue
		}
		for _, m := range s.spelled(r.text, strong) {
			start, end := r.place(m.start, m.end)
			m.move(r.text, start, end)
			found = append(found, m)
		}
	}
	return found
}

// without returns a text in which next replaces parts: it returns the size of the part at the start of rest,
// and what stands for it. It returns nothing if no part is replaced.
func without(text []byte, begins byte, next func(rest []byte) (size int, with []byte)) *revealed {
	if bytes.IndexByte(text, begins) < 0 {
		return nil
	}
	plain, origin := make([]byte, 0, len(text)), make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		size, with := 1, text[i:i+1]
		if text[i] == begins {
			if n, other := next(text[i:]); n > 0 {
				size, with = n, other
			}
		}
		for _, c := range with {
			plain, origin = append(plain, c), append(origin, i)
		}
		i += size
	}
	if len(plain) == len(text) { // what stands for a part is shorter
		return nil
	}
	origin = append(origin, len(text))
	return &revealed{plain, func(start, end int) (int, int) { return origin[start], origin[end-1] + 1 }}
}

// controlled removes control sequences of terminals (ECMA-48, 5.4), such as those for colours.
func controlled(text []byte) *revealed {
	return without(text, 0x1b, func(rest []byte) (int, []byte) {
		if len(rest) < 2 || rest[1] != '[' {
			return 0, nil
		}
		for i := 2; i < min(len(rest), 64); i++ {
			if c := rest[i]; c >= 0x40 && c <= 0x7e {
				return i + 1, nil
			} else if c < 0x20 || c > 0x3f {
				break
			}
		}
		return 0, nil
	})
}

// entities decodes numeric character references of HTML.
func entities(text []byte) *revealed {
	if !bytes.Contains(text, []byte("&#")) {
		return nil
	}
	return without(text, '&', func(rest []byte) (int, []byte) {
		end := bytes.IndexByte(rest[:min(len(rest), 12)], ';')
		if end < 4 && (end < 3 || rest[1] != '#') || rest[1] != '#' {
			return 0, nil
		}
		digits, base := string(rest[2:end]), 10
		if digits[0] == 'x' || digits[0] == 'X' {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 21)
		if err != nil {
			return 0, nil
		}
		return end + 1, utf8.AppendRune(nil, rune(n))
	})
}

// The sizes in bytes of base64 in a text that is decoded. A shorter one has no room for a secret with a recognizable
// form, and a longer one is a file.
const (
	minEncoded = 24
	maxEncoded = 256 << 10
	// maxShifted is the size up to which the text can begin with something else, such as a path.
	maxShifted = 512
)

// encoded decodes base64 (RFC 4648), also in several lines.
func encoded(text []byte) *revealed {
	type run struct{ at, start, end int } // at is the offset of what the run says
	var runs []run
	var plain []byte
	for i := 0; i < len(text); i++ {
		start, lineStart, digits, kinds := i, i, 0, uint8(0)
		for ; i < len(text); i++ {
			if kind := base64Digit[text[i]]; kind != 0 {
				digits++
				kinds |= kind
				continue
			}
			next := i + 1
			if text[i] == '\r' && next < len(text) && text[next] == '\n' {
				next++
			} else if text[i] != '\n' {
				break
			}
			if i-lineStart < 60 || next >= len(text) || base64Digit[text[next]] == 0 {
				break
			}
			lineStart, i = next, next-1
		}
		if digits < minEncoded || digits > maxEncoded || kinds&(lowerDigit|upperDigit) != lowerDigit|upperDigit || kinds != allDigits && digits < 2*minEncoded {
			continue
		}
		standard := standardBase64(text[start:i])
		shifts := 1
		if digits <= maxShifted {
			shifts = 4
		}
		for shift := range shifts {
			at := len(plain)
			if plain = decodeBase64(plain, standard[shift:]); !hasWord(plain[at:]) {
				plain = plain[:at] // ids and other random data
				continue
			}
			runs, plain = append(runs, run{at, start, i}), append(plain, 0, 0)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	return &revealed{plain, func(start, _ int) (int, int) {
		n, found := slices.BinarySearchFunc(runs, start, func(r run, at int) int { return r.at - at })
		if !found {
			n--
		}
		return runs[n].start, runs[n].end
	}}
}

// hasWord reports whether data has a run of characters that is long enough for a secret with a recognizable form.
func hasWord(data []byte) bool {
	const shortest = 14
	run := 0
	for _, c := range data {
		if c <= ' ' || c >= 0x7f {
			run = 0
		} else if run++; run == shortest {
			return true
		}
	}
	return false
}

// The kinds of digits that base64 of any text has.
const (
	lowerDigit = 1 << iota
	upperDigit
	otherDigit
	allDigits = lowerDigit | upperDigit | otherDigit
)

// base64Digit holds the kinds of the characters of both alphabets of base64, 0 for all others.
var base64Digit = func() (kinds [256]uint8) {
	for _, c := range []byte("0123456789+/-_") {
		kinds[c] = otherDigit
	}
	for c := range 26 {
		kinds['a'+c], kinds['A'+c] = lowerDigit, upperDigit
	}
	return kinds
}()

// standardBase64 returns base64 without line ends and in the standard alphabet.
func standardBase64(run []byte) []byte {
	standard := make([]byte, 0, len(run))
	for _, c := range run {
		switch c {
		case '\n', '\r':
		case '-':
			standard = append(standard, '+')
		case '_':
			standard = append(standard, '/')
		default:
			standard = append(standard, c)
		}
	}
	return standard
}

// decodeBase64 appends what base64 without padding stands for. It ends where the base64 does.
func decodeBase64(dst, run []byte) []byte {
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	at, size := len(dst), base64.RawStdEncoding.DecodedLen(len(run))
	dst = slices.Grow(dst, size)[:at+size]
	n, _ := base64.RawStdEncoding.Decode(dst[at:], run) //nolint:errcheck // what came before counts
	dst = dst[:at+n]
	if text := fromUTF16(dst[at:]); text != nil {
		dst = append(dst[:at], text...)
	}
	return dst
}
