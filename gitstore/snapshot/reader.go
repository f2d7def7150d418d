package snapshot

import (
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A Reader reads the snapshots and versions of the repository and, within an update, those that it has
// already written.
type Reader struct {
	db      *odb.Database
	objects object.Reader
	shallow string     // file with the boundary of a shallow clone
	links   *linkWalks // nil within an update
	files   *fileCache // nil within an update
}

// NewReader returns a reader of a repository. shallow is the file with the boundary of a shallow clone.
func NewReader(db *odb.Database, shallow string) Reader {
	return Reader{db: db, objects: object.NewReader(db), shallow: shallow, links: &linkWalks{}, files: &fileCache{}}
}
