package drafts

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// PutBroken durably stores a text that could not become a snapshot, in a directory of
// journals. It uses only the Name, Base, After, Problem and Data of d.
func PutBroken(dir string, d Draft) error {
	journal, err := Open(dir)
	if err != nil {
		return err
	}
	earlier, _ := List(dir) // damaged drafts do not matter here
	for _, e := range earlier {
		journal.next = max(journal.next, number(e.Key)+1)
	}
	_, err = journal.Put(Draft{Name: d.Name, Base: d.Base, After: d.After, State: Broken, Problem: d.Problem, Data: d.Data})
	return errors.Join(err, journal.Close())
}

// ListBroken returns the newest text that could not become a snapshot, for each session
// that has one, sorted by name. It returns those that it could read also with an error, which is one of
// [List].
func ListBroken(dir string) ([]Draft, error) {
	all, err := List(dir)
	newest := map[string]Draft{}
	for _, d := range all {
		if was, ok := newest[d.Name]; d.State == Broken && (!ok || number(d.Key) >= number(was.Key)) {
			newest[d.Name] = d // the order of the journals is random
		}
	}
	return slices.SortedFunc(maps.Values(newest), func(a, b Draft) int { return strings.Compare(a.Name, b.Name) }), err
}

// ListBeside returns the paths of the files below sessions/ that no session has attached,
// sorted. Errors are those of [List]; the paths that could be read are returned with
// them.
func ListBeside(dir string) ([]string, error) {
	all, err := List(dir)
	var paths []string
	for _, d := range all {
		if d.State == Beside {
			paths = append(paths, strings.TrimPrefix(d.Name, "/"))
		}
	}
	slices.Sort(paths)
	return paths, err
}
