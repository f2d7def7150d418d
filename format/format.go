// Package format is the shape that all codecs share: how bytes become a
// [domarkx.Document] and a document becomes bytes. Each format has a package of
// its own below; format/all lists them.
package format

import (
	"path"
	"strings"

	"github.com/domarkx/domarkx"
)

// HeadSize is how many bytes from the start of a file [Codec.Detect] wants to
// see; fewer are enough when the file is shorter.
const HeadSize = 64 << 10

// A Codec reads and writes one format. All of its fields are set.
type Codec struct {
	// Name is what users call the format ("md").
	Name string
	// Extensions are those of its files, with the dot, in lower case; the first is
	// the usual one.
	Extensions []string
	// Detect reports whether a file that begins with head and is called name is of
	// this format. It goes by the content; name may be "".
	Detect func(head []byte, name string) bool
	// Decode reads a whole document. What is wrong with it is a
	// [*domarkx.SyntaxError] that carries Source.Path.
	Decode func(src Source) (*domarkx.Document, error)
	// Encode writes a whole document.
	Encode func(doc *domarkx.Document) ([]byte, error)
}

// A Source is a document to decode.
type Source struct {
	Path string // as the user named it, for messages; may be ""
	Data []byte // the decoded document shares it; the caller must not change it afterwards

	// Include returns the content of a file that the document includes. Its path is
	// relative to the document's folder, slash-separated, clean, and lexically
	// inside; that no symbolic link leads out of the folder is for Include to see
	// to. Nil when nothing can be included.
	Include func(path string) ([]byte, error)
}

// Detect returns the codec that recognises a file by its content, given its
// first [HeadSize] bytes and its name, and whether there is one.
func Detect(codecs []Codec, head []byte, name string) (Codec, bool) {
	for _, c := range codecs {
		if c.Detect(head, name) {
			return c, true
		}
	}
	return Codec{}, false
}

// Pick returns the codec for a file that somebody named: the one that recognises
// its content, else the one whose extension it has.
func Pick(codecs []Codec, head []byte, name string) (Codec, bool) {
	if c, ok := Detect(codecs, head, name); ok {
		return c, true
	}
	ext := strings.ToLower(path.Ext(name))
	for _, c := range codecs {
		for _, e := range c.Extensions {
			if e == ext {
				return c, true
			}
		}
	}
	return Codec{}, false
}

// ByName returns the codec of that name, and whether there is one.
func ByName(codecs []Codec, name string) (Codec, bool) {
	for _, c := range codecs {
		if c.Name == name {
			return c, true
		}
	}
	return Codec{}, false
}
