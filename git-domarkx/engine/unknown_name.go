package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
)

// maxNearest is the maximum number of names that an error suggests.
const maxNearest = 3

// unknown adds the most similar session names to an error that matches domarkx.ErrNotFound. It
// returns other errors unchanged.
func (m *SessionManager) unknown(ctx context.Context, name string, err error) error {
	if !errors.Is(err, domarkx.ErrNotFound) {
		return err
	}
	list, _ := m.store.List(ctx) // without a list there is only no suggestion
	var names []string
	for _, info := range list {
		names = append(names, info.Name)
	}
	nearest := nearestNames(name, names)
	if len(nearest) == 0 {
		return err
	}
	return fmt.Errorf("%w; did you mean %s?", err, strings.Join(nearest, " or "))
}

// nearestNames returns the names that contain name or differ from it in at most a third of its
// letters, most similar first.
func nearestNames(name string, names []string) []string {
	type candidate struct {
		name string
		far  int
	}
	var near []candidate
	for _, other := range names {
		far := editDistance(strings.ToLower(name), strings.ToLower(other))
		if strings.Contains(strings.ToLower(other), strings.ToLower(name)) {
			far = 1
		}
		if far <= max(1, len(name)/3) {
			near = append(near, candidate{other, far})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.far - b.far })
	var nearest []string
	for _, c := range near[:min(len(near), maxNearest)] {
		nearest = append(nearest, fmt.Sprintf("%q", c.name))
	}
	return nearest
}

// editDistance returns the Levenshtein distance between two strings in bytes.
func editDistance(a, b string) int {
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
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
