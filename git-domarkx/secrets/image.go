package secrets

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
)

const (
	maxMetadata = 1 << 20 // maximum decompressed size in bytes of a text in an image
	maxParts    = 10_000  // maximum number of texts in an image
)

// imageType returns the type of an image according to its first bytes, or "".
func imageType(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte("\x89PNG\r\n\x1a\n")):
		return "png"
	case bytes.HasPrefix(content, []byte("\xff\xd8\xff")):
		return "jpeg"
	case bytes.HasPrefix(content, []byte("GIF87a")), bytes.HasPrefix(content, []byte("GIF89a")):
		return "gif"
	case len(content) >= 12 && string(content[:4]) == "RIFF" && string(content[8:12]) == "WEBP":
		return "webp"
	}
	return ""
}

// A part is a text in an image. For a compressed text, data is the decompressed text.
type part struct {
	start, end int
	inflated   []byte
}

// image returns the secrets in the metadata of an image. It does not examine the pixels.
func (s *ruleSet) image(content []byte) []match {
	var parts []part
	switch imageType(content) {
	case "png":
		parts = pngParts(content)
	case "jpeg":
		parts = jpegParts(content)
	case "gif":
		parts = gifParts(content)
	case "webp":
		parts = webpParts(content)
	}
	var found []match
	for _, p := range parts {
		text := p.inflated
		if text == nil {
			text = content[p.start:p.end]
		}
		text = bytes.ReplaceAll(text, []byte{0}, []byte{'\n'}) // texts are separated by NULs
		for _, m := range s.text(text, strong|weak) {
			if p.inflated != nil {
				m.secret = text[m.start:m.end]
				m.start, m.end = p.start, p.end
			} else {
				m.start, m.end = m.start+p.start, m.end+p.start
			}
			found = append(found, m)
		}
	}
	return resolve(found)
}

// pngParts returns the texts of a PNG (ISO/IEC 15948, 11.3.4) and its EXIF data.
func pngParts(content []byte) (parts []part) {
	for at := 8; at+12 <= len(content) && len(parts) < maxParts; {
		size := int(binary.BigEndian.Uint32(content[at:]))
		start := at + 8
		if size < 0 || size > len(content)-start-4 {
			break
		}
		end := start + size
		switch string(content[at+4 : start]) {
		case "tEXt", "eXIf":
			parts = append(parts, part{start: start, end: end})
		case "zTXt":
			if n := bytes.IndexByte(content[start:end], 0); n >= 0 && start+n+2 <= end {
				parts = append(parts, part{start + n + 2, end, inflate(content[start+n+2 : end])})
			}
		case "iTXt": // keyword, NUL, compressed, method, language, NUL, translated keyword, NUL, text
			text := start
			n := bytes.IndexByte(content[start:end], 0)
			if n < 0 || start+n+3 > end {
				break
			}
			compressed := content[start+n+1] == 1
			text += n + 3
			for range 2 {
				if n = bytes.IndexByte(content[text:end], 0); n < 0 {
					break
				}
				text += n + 1
			}
			if n >= 0 && compressed {
				parts = append(parts, part{text, end, inflate(content[text:end])})
			} else {
				parts = append(parts, part{start: start, end: end})
			}
		}
		at = end + 4
	}
	return parts
}

// inflate decompresses a text as far as possible. The result is not nil.
func inflate(data []byte) []byte {
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return []byte{}
	}
	text, _ := io.ReadAll(io.LimitReader(r, maxMetadata)) //nolint:errcheck // what came before the damage counts
	if text == nil {
		text = []byte{}
	}
	return text
}

// jpegParts returns the comments and application segments of a JPEG (ITU-T T.81, B.1), such as EXIF and XMP.
func jpegParts(content []byte) (parts []part) {
	for at := 2; at+4 <= len(content) && content[at] == 0xff && len(parts) < maxParts; {
		marker := content[at+1]
		if marker == 0xda || marker == 0xd9 { // the pixels or the end of the image
			break
		}
		if marker == 0xff {
			at++
			continue
		}
		size := int(binary.BigEndian.Uint16(content[at+2:]))
		if size < 2 || at+2+size > len(content) {
			break
		}
		if marker == 0xfe || marker >= 0xe0 && marker <= 0xef {
			parts = append(parts, part{start: at + 4, end: at + 2 + size})
		}
		at += 2 + size
	}
	return parts
}

// gifParts returns the comments and the application data of a GIF (GIF89a, 24 and 26).
func gifParts(content []byte) (parts []part) {
	at := 13
	if len(content) < at {
		return nil
	}
	if content[10]&0x80 != 0 {
		at += 3 << (content[10]&7 + 1)
	}
	for at+2 < len(content) && len(parts) < maxParts {
		comment := false
		switch content[at] {
		case 0x21: // begins an extension
			comment = content[at+1] == 0xfe || content[at+1] == 0xff
			at += 2
		case 0x2c: // begins an image
			if at+10 >= len(content) {
				return parts
			}
			packed := content[at+9]
			at += 11
			if packed&0x80 != 0 {
				at += 3 << (packed&7 + 1)
			}
		default:
			return parts
		}
		for at < len(content) && content[at] != 0 {
			end := min(at+1+int(content[at]), len(content))
			if comment && len(parts) < maxParts {
				parts = append(parts, part{start: at + 1, end: end})
			}
			at = end
		}
		at++
	}
	return parts
}

// webpParts returns the EXIF and XMP chunks of a WebP (RFC 9649).
func webpParts(content []byte) (parts []part) {
	for at := 12; at+8 <= len(content) && len(parts) < maxParts; {
		size := int(binary.LittleEndian.Uint32(content[at+4:]))
		if size < 0 || size > len(content)-at-8 {
			break
		}
		if name := string(content[at : at+4]); name == "EXIF" || name == "XMP " {
			parts = append(parts, part{start: at + 8, end: at + 8 + size})
		}
		at += 8 + size + size&1
	}
	return parts
}
