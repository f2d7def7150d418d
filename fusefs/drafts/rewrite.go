package drafts

import (
	"errors"
	"fmt"
	"slices"
)

// ErrInUse reports that a draft that has to change belongs to a running process.
var ErrInUse = errors.New("a running process has the draft")

// Rewrite durably replaces each draft for which change returns true by the draft that
// change returns; change must not set its Key. Only drafts of dead processes can be
// changed: if one of a running process has to change, Rewrite changes nothing, and the
// error matches [ErrInUse] and names the session. A draft that cannot be read is an
// error, too.
func Rewrite(dir string, change func(d Draft) (now Draft, changed bool)) (err error) {
	all, err := List(dir)
	if err != nil || len(all) == 0 {
		return err
	}
	j, err := Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	adopted, err := j.Adopt()
	if err != nil {
		return err
	}
	if all, err = List(dir); err != nil {
		return err
	}
	sums := map[string]string{} // of changed data, by the sum before
	for _, d := range all {
		now, changed := change(d)
		if !changed {
			continue
		}
		if !slices.ContainsFunc(adopted, func(own Draft) bool { return own.Key == d.Key }) {
			return fmt.Errorf("the unsaved text of %q: %w", d.Name, ErrInUse)
		}
		sums[Sum(d.Data)] = Sum(now.Data)
	}
	for _, d := range adopted {
		now, changed := change(d)
		if sum, ok := sums[d.AfterIs]; ok && d.AfterIs != "" {
			now.AfterIs, changed = sum, true
		}
		if !changed {
			continue
		}
		now.Key = d.Key
		if _, err := j.Put(now); err != nil {
			return err
		}
	}
	return nil
}
