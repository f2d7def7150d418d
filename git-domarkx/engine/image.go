package engine

import "bytes"

// IsImage reports whether a file that begins so is an image, by its content: PNG, JPEG,
// GIF, WebP or AVIF. SVG is not among them: it is text that nothing marks for certain, so
// that many a file could pass for it, and it can hold scripts and links.
func IsImage(head []byte) bool {
	for _, begin := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a"} {
		if bytes.HasPrefix(head, []byte(begin)) {
			return true
		}
	}
	if len(head) < imageHead {
		return false
	}
	kind := string(head[4:12])
	return string(head[:4]) == "RIFF" && kind[4:] == "WEBP" || kind == "ftypavif" || kind == "ftypavis"
}

// imageHead is how many bytes tell an image.
const imageHead = 12
