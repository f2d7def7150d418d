package mdtext

import (
	"regexp"
	"strings"
	"sync"
)

// An Image is a picture in Base64.
type Image struct{ Type, Data string }

const base64Characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-"

// Markdown returns the image as Markdown, and false if the data is not a valid image.
func (i Image) Markdown() (string, bool) {
	if !strings.HasPrefix(i.Type, "image/") || strings.ContainsAny(i.Type, "()<>;, \n") || i.Data == "" || strings.Trim(i.Data, base64Characters) != "" {
		return "", false
	}
	return "![image](" + i.URL() + ")", true
}

// URL returns the image as a URL (RFC 2397).
func (i Image) URL() string { return "data:" + i.Type + ";base64," + i.Data }

// DataImage reads the image in a URL such as "data:image/png;base64,…".
func DataImage(url string) (Image, bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	kind, data, isBase64 := strings.Cut(rest, ";base64,")
	return Image{kind, data}, ok && isBase64
}

var picture = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^!\[[^\]\n]*\]\(data:(image/[A-Za-z0-9.+-]+);base64,([A-Za-z0-9+/=_-]+)\)$`)
})

// A Piece is text, or an image.
type Piece struct {
	Text  string
	Image *Image
}

// Pieces splits Markdown into text and images.
func Pieces(markdown string) []Piece {
	var pieces []Piece
	text := func(s string) {
		if s = strings.Trim(s, "\n"); s != "" {
			pieces = append(pieces, Piece{Text: s})
		}
	}
	found := picture().FindAllStringSubmatchIndex(markdown, -1)
	if found == nil {
		return []Piece{{Text: markdown}}
	}
	at := 0
	for _, m := range found {
		text(markdown[at:m[0]])
		pieces = append(pieces, Piece{Image: &Image{markdown[m[2]:m[3]], markdown[m[4]:m[5]]}})
		at = m[1]
	}
	text(markdown[at:])
	return pieces
}

// LeadingImages returns the images with which Markdown begins, and the rest.
func LeadingImages(markdown string) ([]Image, string) {
	var images []Image
	for {
		rest := strings.TrimLeft(markdown, "\n")
		m := picture().FindStringSubmatchIndex(rest)
		if m == nil || m[0] != 0 {
			return images, markdown
		}
		images, markdown = append(images, Image{rest[m[2]:m[3]], rest[m[4]:m[5]]}), rest[m[1]:]
	}
}
