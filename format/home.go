package format

import "github.com/domarkx/domarkx/format/domarkx"

// Homes describes directories in which a program stores its documents together with other files to
// which the documents refer. Such a directory becomes a resource in a workspace version.
type Homes struct {
	// Type is the type of that resource.
	Type string
	// Find returns the homes among the files of a directory, in order. The paths are slash-separated
	// and relative to that directory. head returns at most [HeadSize] bytes from the beginning of a
	// file, or nil if it cannot be read.
	Find func(files []string, head func(file string) []byte) []Home
	// Names reports whether a message of a document with header h refers to a file in its home. has
	// reports whether the resource has a file at a path, relative to its top. Names uses nothing
	// but has, whatever the message contains.
	Names func(h domarkx.Header, m domarkx.Message, has func(path string) bool) bool
}

// A Home is one such directory. Its paths are slash-separated; "." is the directory itself.
type Home struct {
	Name      string // a name for its workspace, not yet valid as one
	Documents string // the directory of its documents, relative to the searched directory
	Parts     []Part // the directories that the resource consists of, sorted by To; they do not overlap
}

// A Part is a directory of a home that becomes part of the resource.
type Part struct {
	From string // relative to the searched directory; it may not exist
	To   string // path in the resource
}
