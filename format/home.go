package format

import "github.com/domarkx/domarkx"

// Homes are the folders in which a program keeps its documents with other files, that
// the documents tell of. Such a folder becomes a resource in a version of a workspace.
type Homes struct {
	// Type is that of the resource.
	Type string
	// Find returns the homes in a folder, in order, by the paths of its files, which are
	// slash-separated and begin at the folder. head returns the beginning of one of these
	// files, at most [HeadSize] bytes; nil when it cannot be read.
	Find func(files []string, head func(file string) []byte) []Home
	// Names reports whether a message of a document with that header names something that
	// its home has. has tells whether a path, from the top of the resource, is there.
	// Whatever a message says, nothing else is asked for.
	Names func(h domarkx.Header, m domarkx.Message, has func(path string) bool) bool
}

// A Home is one such folder. Its paths are slash-separated; "." is the top.
type Home struct {
	Name      string // what a workspace of it is to be called, not mapped yet
	Documents string // the folder of its documents, from the folder in which it was found
	Parts     []Part // what of it the resource holds, by To; none is in another
}

// A Part is a folder of a home.
type Part struct {
	From string // in the folder in which the home was found; it may be missing
	To   string // in the resource
}
