package secrets

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// fromUTF16 returns a text in UTF-16 as UTF-8, and nil if content is not such a text. A byte order mark is not
// needed: text has a zero in nearly every second byte.
func fromUTF16(content []byte) []byte {
	var order binary.ByteOrder
	switch {
	case len(content) < 4:
		return nil
	case content[0] == 0xff && content[1] == 0xfe:
		order, content = binary.LittleEndian, content[2:]
	case content[0] == 0xfe && content[1] == 0xff:
		order, content = binary.BigEndian, content[2:]
	default:
		var zeros [2]int
		head := content[:min(len(content)&^1, 4096)]
		for i, c := range head {
			if c == 0 {
				zeros[i&1]++
			}
		}
		switch most := len(head) / 2; {
		case zeros[1] >= most*3/4 && zeros[0] <= most/8:
			order = binary.LittleEndian
		case zeros[0] >= most*3/4 && zeros[1] <= most/8:
			order = binary.BigEndian
		default:
			return nil
		}
	}
	text := make([]byte, 0, len(content)/2)
	for i := 0; i+1 < len(content); i += 2 {
		r := rune(order.Uint16(content[i:]))
		if utf16.IsSurrogate(r) && i+3 < len(content) {
			if both := utf16.DecodeRune(r, rune(order.Uint16(content[i+2:]))); both != utf8.RuneError {
				r = both
				i += 2
			}
		}
		text = utf8.AppendRune(text, r)
	}
	return text
}

// placeInUTF16 returns the offset in content of an offset in the text that [fromUTF16] returned for it.
func placeInUTF16(content, text []byte, at int) int {
	units := 0
	for _, r := range string(text[:at]) {
		units += max(1, utf16.RuneLen(r))
	}
	if text := content[:2]; string(text) == "\xff\xfe" || string(text) == "\xfe\xff" {
		units++
	}
	return min(2*units, len(content))
}
