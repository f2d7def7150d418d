package refdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// Names of files of the reftable backend in the common directory (gitformat-reftable(5)).
const (
	tablesDir  = "reftable/"
	tablesList = "reftable/tables.list"
)

// SyncTables makes the tables of the reftable backend durable, and returns their paths relative to the common directory; none for
// the files backend. known are paths that an earlier call returned, perhaps in another process. The caller holds the repository's
// lock.
func (r *Refs) SyncTables(known []string) ([]string, error) {
	if !r.git.Reftable {
		return nil, nil
	}
	list, err := r.tables()
	if err != nil {
		return nil, err
	}
	names := strings.Fields(list)
	var paths []string // other gits may not sync these files
	for i, name := range names {
		names[i] = tablesDir + name
		if !slices.Contains(known, names[i]) && !slices.Contains(r.durable, names[i]) {
			paths = append(paths, names[i])
		}
	}
	if len(paths) > 0 {
		paths = append(paths, tablesList, tablesDir) // a name must not become durable before what it stands for
	}
	for _, path := range paths {
		if err := atomicfile.SyncDir(r.path(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("syncing references: %w", err)
		}
	}
	r.durable = names
	return names, nil
}

// tables returns the names of the tables that have the references now. Git gives each table a new name, and replaces the
// list with each change: so equal lists stand for equal references.
func (r *Refs) tables() (string, error) {
	data, err := os.ReadFile(r.path(tablesList))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading references: %w", err)
	}
	return string(data), nil
}

// ask returns the references below a pattern of git for-each-ref(1): a name, with those of which it is a directory.
func (r *Refs) ask(pattern string) (*Listing, error) {
	tables, err := r.wholeTables()
	if err != nil {
		return nil, err
	}
	l := &Listing{tables: tables, inTables: true}
	out, err := r.git.Run(r.ctx, nil, "for-each-ref", "--format=%(objectname) %(refname) %(symref)", "--", pattern)
	var failed *gitcmd.Error
	if errors.As(err, &failed) { // some damage makes git crash
		return nil, fmt.Errorf("reading references: %w; see git fsck: %w", domarkx.ErrCorrupt, err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading references: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(fields) != 3 || checkName(fields[1]) != nil {
			continue
		}
		id, name, symbolic := fields[0], fields[1], fields[2] != ""
		switch {
		case symbolic:
			l.damaged = append(l.damaged, &damage{name, symbolicError(name)})
		case !r.isID(id):
			l.damaged = append(l.damaged, &damage{name, noObjectError(name)})
		default:
			l.Refs = append(l.Refs, Ref{name, id})
		}
	}
	return l, nil
}

// nilIfCode returns nil for the error of a git that exited with one of the codes.
func nilIfCode(err error, codes ...int) error {
	var failed *gitcmd.Error
	if errors.As(err, &failed) && slices.Contains(codes, failed.Code) {
		return nil
	}
	return err
}

// errorText returns what git printed to standard error.
func errorText(err error) string {
	var failed *gitcmd.Error
	if errors.As(err, &failed) {
		return failed.Stderr
	}
	return ""
}

// readTables is [Refs.Read] for the reftable backend.
func (r *Refs) readTables(name string) (id string, ok bool, err error) {
	l := r.listed(name)
	if l == nil {
		l, err = r.current("="+name, func() (*Listing, error) { return r.ask(name) })
	}
	if err != nil {
		return "", false, err
	}
	for _, err := range l.damaged {
		var one *damage
		if errors.As(err, &one) && one.name == name {
			return "", false, one.err
		}
	}
	for _, ref := range l.Refs {
		if ref.Name == name {
			return ref.ID, true, nil
		}
	}
	return "", false, nil
}

// listTables returns the references whose names begin with prefix, from the reftable backend.
func (r *Refs) listTables(prefix string) (*Listing, error) {
	dir := prefix[:strings.LastIndexByte(prefix, '/')+1]
	if dir == "" || checkName(dir+"x") != nil {
		return nil, badName(prefix)
	}
	l, err := r.ask(dir)
	if err != nil {
		return nil, err
	}
	kept := l.Refs[:0]
	for _, ref := range l.Refs {
		if strings.HasPrefix(ref.Name, prefix) {
			kept = append(kept, ref)
		}
	}
	l.Refs = kept
	return l, nil
}
