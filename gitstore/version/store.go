// Package version stores versions of resources as Git trees and reads them. A version contains directories, regular files,
// symbolic links, FIFOs and devices, with full modes, owners, hard links and extended attributes. Attributes that a Git tree
// cannot express are in a sidecar, a file in the directory's tree. Section 11 of ../SPEC.md specifies the format.
//
// The id of a version is that of the tree of its top directory. [Writer.Finish] makes a version durable. Then the caller
// moves a ref to a commit that contains it, which protects it from git gc from then on, and calls [Writer.Settle].
package version

import "github.com/domarkx/domarkx/gitstore/odb"

// A Reader reads versions from the object database of a repository, and begins to write them. Several goroutines may use it at
// once.
type Reader struct{ db *odb.Database }

// NewReader returns a reader of the versions in an object database.
func NewReader(db *odb.Database) Reader { return Reader{db} }
