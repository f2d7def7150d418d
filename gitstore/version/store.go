// Package version stores versions of resources as Git trees and reads them back. A
// version contains directories, regular files, symbolic links, FIFOs and devices with full
// modes, owners, hard links and extended attributes: what a Git tree cannot express is
// stored in a sidecar file in each directory's tree. The format is described in
// ../SPEC.md.
//
// A version is identified by the id of the tree of its top directory. It is safe from
// Git's garbage collection only once a ref reaches it: [Writer.Finish] makes it durable,
// the caller then moves a ref to a commit that contains it, and [Writer.Settle] verifies
// its objects afterwards.
package version

import "github.com/domarkx/domarkx/gitstore/odb"

// A Store reads and writes versions in the object database of a repository. Any number
// of goroutines may use one.
type Store struct{ db *odb.Database }

// New returns the versions in an object database.
func New(db *odb.Database) Store { return Store{db} }
