package snapshot

import (
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/version"
)

// A Reader reads the snapshots and workspace versions of a repository. The Reader of a [Builder] also reads those that
// its update has written.
type Reader struct {
	version.Reader // of the versions of resources
	db             *odb.Database
	objects        object.Reader
	shallow        string     // path of the file with the boundary of a shallow clone
	links          *linkWalks // nil within an update
	files          *fileCache // nil within an update
}

// NewReader returns a reader of a repository. shallow is the path of the file with the boundary of a shallow clone
// (gitrepository-layout(5)), which need not exist.
func NewReader(db *odb.Database, shallow string) Reader {
	return Reader{Reader: version.NewReader(db), db: db, objects: object.NewReader(db), shallow: shallow, links: &linkWalks{}, files: &fileCache{}}
}
