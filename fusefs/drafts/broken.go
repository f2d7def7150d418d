package drafts

import (
	"errors"
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
// that has one. It returns those that it could read also with an error, which is one of
// [List].
func ListBroken(dir string) ([]Draft, error) {
	all, err := List(dir)
	var list []Draft
	for _, d := range all {
		if d.State != Broken {
			continue
		}
		if i := slices.IndexFunc(list, func(e Draft) bool { return e.Name == d.Name }); i >= 0 {
			if number(d.Key) >= number(list[i].Key) { // the order of the journals is random
				list[i] = d
			}
			continue
		}
		list = append(list, d)
	}
	return list, err
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
