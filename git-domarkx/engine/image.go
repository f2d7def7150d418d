package engine

import "bytes"

// IsImage reports whether content that starts with head is a PNG, JPEG, GIF, WebP or AVIF image.
// SVG is excluded: it is text without a reliable signature, and it can contain scripts and links.
func IsImage(head []byte) bool {
	for _, begin := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a"} {
		if bytes.HasPrefix(head, []byte(begin)) {
			return true
		}
	}
	if len(head) < ImageHead {
		return false
	}
	kind := string(head[4:12])
	return string(head[:4]) == "RIFF" && kind[4:] == "WEBP" || kind == "ftypavif" || kind == "ftypavis"
}

// ImageHead is the number of bytes that IsImage needs.
const ImageHead = 12
