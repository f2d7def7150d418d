package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/text/cases"

	"github.com/domarkx/domarkx"
)

// minAbbreviation is the number of digits that an abbreviated id has at least, as
// in Git.
const minAbbreviation = 4

// Find returns the snapshot whose id begins with these hexadecimal digits, four or
// more, among a snapshot and all that it came from. None there is
// [domarkx.ErrNotFound]; several, or what is no beginning of an id, is
// [domarkx.ErrInvalid].
func (s *Store) Find(ctx context.Context, tip, prefix string) (domarkx.Info, error) {
	digits := strings.ToLower(prefix)
	if len(digits) < minAbbreviation || len(digits) > 40 || strings.Trim(digits, "0123456789abcdef") != "" {
		return domarkx.Info{}, fmt.Errorf("snapshot %q: %w, expected %d to 40 hexadecimal digits", prefix, domarkx.ErrInvalid, minAbbreviation)
	}
	candidates := []string{digits}
	if len(digits) < 40 {
		out, err := s.git.Run(ctx, nil, "rev-parse", "--disambiguate="+digits)
		if err != nil {
			return domarkx.Info{}, err
		}
		candidates = strings.Fields(string(out))
	}
	var found []domarkx.Info
	for _, id := range candidates {
		info, err := s.Info(ctx, id)
		if errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrCorrupt) {
			continue // no snapshot at all
		}
		if err != nil {
			return domarkx.Info{}, err
		}
		if ok, err := s.IsAncestor(ctx, id, tip); err != nil {
			return domarkx.Info{}, err
		} else if ok {
			found = append(found, info)
		}
	}
	switch len(found) {
	case 0:
		return domarkx.Info{}, fmt.Errorf("snapshot %q: %w in this session, git domarkx log lists its snapshots", prefix, domarkx.ErrNotFound)
	case 1:
		return found[0], nil
	}
	return domarkx.Info{}, fmt.Errorf("snapshot %q: %w, it could be any of %d, give more digits", prefix, domarkx.ErrInvalid, len(found))
}

// notFound is the error for a session that is not there, with names like it.
func (s *Store) notFound(name string) error {
	err := fmt.Errorf("session %q: %w", name, domarkx.ErrNotFound)
	if mapped := MapName(name); mapped != name {
		err = fmt.Errorf("%w, names are written like %q", err, mapped)
	}
	refs, e := s.refs.List(sessionPrefix)
	if e != nil {
		return err
	}
	fold := cases.Fold()
	wanted := fold.String(name)
	best, distance := "", len(name)/3+1
	for _, ref := range refs {
		other := sessionName(ref.Name)
		d := editDistance(wanted, fold.String(other), distance)
		if other[strings.LastIndexByte(other, '/')+1:] == name {
			d = 0
		}
		if d < distance {
			best, distance = other, d
		}
	}
	if best != "" {
		return fmt.Errorf("%w, did you mean %q?", err, best)
	}
	return err
}

// editDistance returns how many bytes to insert, remove or replace to make b of a
// (Levenshtein), or limit when it is that or more.
func editDistance(a, b string, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}
