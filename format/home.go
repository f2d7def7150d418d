package format

import "github.com/domarkx/domarkx"

// Homes are directories in which a program keeps its documents together with other files that the
// documents refer to. Such a directory becomes a resource in a workspace version.
type Homes struct {
	// Type is that of the resource.
	Type string
	// Find returns the homes among the files of a directory, in order. The paths are slash-separated
	// and relative to that directory. head returns at most [HeadSize] bytes from the beginning of a
	// file, or nil if it cannot be read.
	Find func(files []string, head func(file string) []byte) []Home
	// Names reports whether a message of a document with header h refers to a file in its home. has
	// reports whether a path, from the top of the resource, exists; Names asks for nothing else,
	// whatever the message says.
	Names func(h domarkx.Header, m domarkx.Message, has func(path string) bool) bool
}

// A Home is one such directory. Its paths are slash-separated; "." is the top.
type Home struct {
	Name      string // name for its workspace, before mapping
	Documents string // the directory of its documents, relative to the searched directory
	Parts     []Part // what of it the resource holds, by To; none is in another
}

// A Part is a directory of a home.
type Part struct {
	From string // relative to the searched directory; it may not exist
	To   string // in the resource
}
