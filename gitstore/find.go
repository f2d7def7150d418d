package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/cases"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// minAbbreviation is the smallest number of digits of an abbreviated id, as in Git.
const minAbbreviation = 4

// Find returns the snapshot, among tip and its ancestors, whose id begins with prefix, which has at least four hexadecimal
// digits. It returns [domarkx.ErrNotFound] if there is none, and [domarkx.ErrInvalid] if there are several or
// prefix is not valid.
func (s *Store) Find(ctx context.Context, tip, prefix string) (domarkx.Info, error) {
	return find(ctx, s, tip, prefix, s.SnapshotAmong, "snapshot", "in this session, git domarkx log lists its snapshots")
}

// FindVersion is like [Store.Find], but for workspace versions. The result has the resources of the version, but not the
// name of the workspace.
func (s *Store) FindVersion(ctx context.Context, tip, prefix string) (domarkx.Version, error) {
	return find(ctx, s, tip, prefix, s.VersionAmong, "version", "in this workspace, git domarkx workspace log lists its versions")
}

// find returns what among finds of the objects whose ids begin with prefix. noun and where are for errors.
func find[T any](ctx context.Context, s *Store, tip, prefix string, among func(ctx context.Context, tip string, candidates []string) (T, error), noun, where string) (found T, err error) {
	candidates, err := s.candidates(ctx, prefix)
	if err == nil {
		if found, err = among(ctx, tip, candidates); errors.Is(err, domarkx.ErrNotFound) {
			err = fmt.Errorf("%w %s", err, where)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s %q: %w", noun, prefix, err)
	}
	return found, err
}

// candidates returns the ids of all objects whose ids begin with prefix, or prefix itself if it is a full id.
func (s *Store) candidates(ctx context.Context, prefix string) ([]string, error) {
	digits := strings.ToLower(prefix)
	if len(digits) < minAbbreviation || len(digits) > s.db.Hash().HexSize() || strings.Trim(digits, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%w, expected %d to %d hexadecimal digits", domarkx.ErrInvalid, minAbbreviation, s.db.Hash().HexSize())
	}
	if len(digits) == s.db.Hash().HexSize() {
		return []string{digits}, nil
	}
	out, err := s.git.Run(ctx, nil, "rev-parse", "--disambiguate="+digits)
	return strings.Fields(string(out)), err
}

// maxSuggested is the maximum number of names that an error suggests.
const maxSuggested = 3

// notFound returns the error for a name that does not exist, with a text that suggests the most similar names.
func (s *Store) notFound(k refname.Kind, name string) error {
	err := fmt.Errorf("%s %q: %w", k.Noun, name, k.Missing)
	if mapped := refname.Map(name); mapped != name {
		err = fmt.Errorf("%w, names are written like %q", err, mapped)
	}
	refs, e := s.refs.List(k.Prefix)
	if e != nil {
		return err
	}
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	fold := cases.Fold()
	wanted, limit := fold.String(name), len(name)/3+1
	for _, ref := range refs {
		other := k.Name(ref.Name)
		d := editDistance(wanted, fold.String(other), limit)
		if other[strings.LastIndexByte(other, '/')+1:] == name {
			d = 0
		}
		if d < limit {
			near = append(near, candidate{other, d})
		}
	}
	if len(near) == 0 {
		return err
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range near[:min(len(near), maxSuggested)] {
		names = append(names, strconv.Quote(c.name))
	}
	return fmt.Errorf("%w, did you mean %s?", err, strings.Join(names, " or "))
}

// editDistance returns the smallest number of bytes to insert, remove or replace, or of neighbours to swap, that turns a
// into b (the restricted Damerau-Levenshtein distance), or limit if that is less.
func editDistance(a, b string, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	older, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older, last, row = last, row, older
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return min(row[len(b)], limit)
}
