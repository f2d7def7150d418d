package refdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// Refs gives access to the references of one repository. Several goroutines may use it at once.
type Refs struct {
	ctx      context.Context // of the gits that only read
	git      *gitcmd.Git
	common   string        // the repository's common directory
	held     atomic.Bool   // whether this Refs holds the repository's lock
	patience time.Duration // how long to wait for a lock file that may belong to a running git
	durable  []string      // paths of tables, see SyncTables

	written   []string // "ID NAME" of references that the last change wrote
	writtenTo string   // the list of tables after it

	lastPacked atomic.Pointer[packedRefs]

	listing  sync.Mutex
	listings map[string]*Listing // by prefix, in the reftable backend also by "=" and name, as they were read last
}

// A Ref is a reference and the object that it names.
type Ref struct {
	Name string // full name: refs/domarkx/sessions/…
	ID   string // lower-case hexadecimal digits
}

// Open returns the references of a repository, without reading or writing files. In a repository with the reftable backend,
// reading starts a git with the values of ctx. The end of ctx does not end it, because what was interrupted is recorded after
// that.
func Open(ctx context.Context, g *gitcmd.Git) *Refs {
	return &Refs{ctx: context.WithoutCancel(ctx), git: g, common: g.CommonDir, patience: patience}
}

// Read returns the id of the object that a reference names, and false if the reference does not exist. It returns
// [domarkx.ErrUnsupported] for a symbolic reference, [domarkx.ErrCorrupt] for a damaged one, and [domarkx.ErrInvalid] for
// an invalid name.
func (r *Refs) Read(name string) (id string, ok bool, err error) {
	if err := checkName(name); err != nil {
		return "", false, err
	}
	if r.git.Reftable {
		return r.readTables(name)
	}
	id, ok, err = r.readLoose(name)
	if ok || err != nil {
		return id, ok, err
	}
	// Git pack-refs writes packed-refs before it removes the loose file. So a reference that is in neither does not exist,
	// or was created after its loose file was looked for.
	id, ok, err = r.readPacked(name)
	if ok || err != nil {
		return id, ok, err
	}
	return r.readLoose(name)
}

func (r *Refs) readLoose(name string) (string, bool, error) {
	data, err := readSmall(r.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist), isNoFile(err):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("reading the reference %q: %w", name, err)
	}
	id, err := r.parseLoose(name, data)
	return id, err == nil, err
}

// parseLoose parses the content of a loose reference: an id and white space.
func (r *Refs) parseLoose(name string, data []byte) (string, error) {
	if strings.HasPrefix(string(data), "ref:") {
		return "", symbolicError(name)
	}
	id := string(data)
	if end := strings.IndexAny(id, " \t\n\r"); end >= 0 {
		id = id[:end]
	}
	if !r.isID(id) {
		return "", noObjectError(name)
	}
	return id, nil
}

func symbolicError(name string) error {
	return fmt.Errorf("the reference %q is symbolic: %w; remove it (git symbolic-ref -d %s)", name, domarkx.ErrUnsupported, name)
}

func noObjectError(name string) error {
	return fmt.Errorf("the reference %q does not name an object: %w", name, domarkx.ErrCorrupt)
}

// path returns the path of a loose reference, or of another file in the common directory.
func (r *Refs) path(name string) string { return filepath.Join(r.common, filepath.FromSlash(name)) }

// isID reports whether s is an object id of the repository as Git writes it.
func (r *Refs) isID(s string) bool { return len(s) == r.git.Hash.HexSize() && oid.IsHex(s) }

// checkName returns [domarkx.ErrInvalid] for a name that git check-ref-format rejects or that does not begin with "refs/".
// A valid name refers to no file outside the Git directory.
func checkName(name string) error {
	if !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return badName(name)
	}
	for component := range strings.SplitSeq(name, "/") {
		if component == "" || component[0] == '.' || strings.HasSuffix(component, ".lock") {
			return badName(name)
		}
	}
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c == 0x7f || strings.IndexByte(" ~^:?*[\\", c) >= 0 {
			return badName(name)
		}
	}
	return nil
}

func badName(name string) error {
	return fmt.Errorf("the reference name %q: %w", name, domarkx.ErrInvalid)
}

// readOnly wraps an error and says what was being done. If writing was not permitted, the result is also
// [domarkx.ErrReadOnly].
func readOnly(what string, err error) error {
	if errors.Is(err, os.ErrPermission) || isReadOnly(err) {
		return fmt.Errorf("%s: %w: %w", what, domarkx.ErrReadOnly, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
