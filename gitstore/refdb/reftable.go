package refdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
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

// SyncTables makes the tables of the reftable backend durable. It returns their paths relative to the common directory, and what
// [Refs.Update] has just written to the last one; nothing for the files backend. known is what an earlier call returned, perhaps in
// another process. The caller holds the repository's lock.
func (r *Refs) SyncTables(known []string) ([]string, error) {
	if !r.git.Reftable {
		return nil, nil
	}
	list, err := r.tables()
	if err != nil {
		return nil, err
	}
	names := tablePaths(list)
	var paths []string // other gits may not sync these files
	for _, name := range names {
		if !slices.Contains(known, name) && !slices.Contains(r.durable, name) {
			paths = append(paths, name)
		}
	}
	if len(paths) > 0 {
		paths = append(paths, tablesList, tablesDir) // a name must not become durable before what it stands for
	}
	for _, name := range paths {
		if err := atomicfile.SyncDir(r.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("syncing references: %w", err)
		}
	}
	r.durable = names
	if i := slices.IndexFunc(known, func(line string) bool { return strings.HasPrefix(line, tablesDir) }); i >= 0 {
		n := i + len(names)
		if n < len(known) && slices.Equal(known[i:n], names) && r.checkTables(list) == nil {
			r.setWritten(known[n:], list)
		}
	}
	if list != r.writtenTo {
		return names, nil
	}
	return slices.Concat(names, r.written), nil
}

// setWritten sets what the last change of all references wrote: "ID NAME". It need not be read, as long as the list of tables stays the
// same.
func (r *Refs) setWritten(lines []string, list string) {
	r.written, r.writtenTo = lines, list
	r.listing.Lock()
	defer r.listing.Unlock()
	if r.listings == nil {
		r.listings = map[string]*Listing{}
	}
	for _, line := range lines {
		if id, name, ok := strings.Cut(line, " "); ok && r.isID(id) && checkName(name) == nil {
			r.listings["="+name] = &Listing{Refs: []Ref{{name, id}}, inTables: true, tables: list}
		}
	}
}

// noteWritten notes what git has written when it has made changes. Git numbers the transactions: if there is one more than when the
// tables were synced, it is that of the changes, so no other git has changed a reference since.
func (r *Refs) noteWritten(changes []Change) {
	list, err := r.tables()
	names := tablePaths(list)
	was, ok := lastTransaction(r.durable)
	now, isNumber := lastTransaction(names)
	var written []string
	for _, c := range changes {
		if c.New != c.Old {
			written = append(written, c.New+" "+c.Ref)
		}
	}
	if err != nil || !ok || !isNumber || now != was+1 || len(written) == 0 || len(written) > manyRefs {
		return
	}
	if slices.Equal(names[:len(names)-1], r.durable) {
		r.durable = names // git has synced the new table and the list
	}
	r.setWritten(written, list)
}

// tablePaths returns the paths of the tables in a list, relative to the common directory.
func tablePaths(list string) []string {
	names := strings.Fields(list)
	for i, name := range names {
		names[i] = tablesDir + name
	}
	return names
}

// lastTransaction returns the number of the last transaction in tables, from the name of the last one: 0xFIRST-0xLAST-RANDOM.ref
// (gitformat-reftable(5)).
func lastTransaction(tables []string) (number uint64, ok bool) {
	if len(tables) == 0 {
		return 0, false
	}
	_, rest, _ := strings.Cut(path.Base(tables[len(tables)-1]), "-")
	last, _, _ := strings.Cut(rest, "-")
	number, err := strconv.ParseUint(last, 0, 64)
	return number, err == nil
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
			l.damaged = append(l.damaged, &Damage{name, symbolicError(name)})
		case !r.isID(id):
			l.damaged = append(l.damaged, &Damage{name, noObjectError(name)})
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
	for _, d := range l.damaged {
		if d.Name == name {
			return "", false, d.Err
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
	l.Refs = slices.DeleteFunc(l.Refs, func(ref Ref) bool { return !strings.HasPrefix(ref.Name, prefix) })
	return l, nil
}
