package drafts

import (
	"errors"
	"slices"
	"strings"
)

// PutBroken stores a text that could not become a snapshot durably in a directory of journals.
// Only the Name, Base, Problem and Data of d are used.
func PutBroken(dir string, d Draft) error {
	journal, err := Open(dir)
	if err != nil {
		return err
	}
	earlier, _ := List(dir) // damaged drafts have no order
	for _, e := range earlier {
		journal.next = max(journal.next, number(e.Key)+1)
	}
	_, err = journal.Put(Draft{Name: d.Name, Base: d.Base, State: Broken, Problem: d.Problem, Data: d.Data})
	return errors.Join(err, journal.Close())
}

// ListBroken returns the newest text of each session that could not become a snapshot. It returns
// the readable ones also with an error.
func ListBroken(dir string) ([]Draft, error) {
	all, err := List(dir)
	var list []Draft
	for _, d := range all {
		if d.State != Broken {
			continue
		}
		if i := slices.IndexFunc(list, func(e Draft) bool { return e.Name == d.Name }); i >= 0 {
			if number(d.Key) >= number(list[i].Key) { // journals have random names
				list[i] = d
			}
			continue
		}
		list = append(list, d)
	}
	return list, err
}

// ListBeside returns, sorted, the paths of the files that were saved beside sessions and that no
// session has attached.
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
