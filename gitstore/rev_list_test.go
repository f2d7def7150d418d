package gitstore_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// TestNewFiles compares the commits that are visited with those that git rev-list names: few and many
// after a known one, none, and those beside each other.
func TestNewFiles(t *testing.T) {
	s, dir := newStore(t)
	const length = 70
	var line []string
	update(t, s, func(tx *gitstore.Tx) error {
		for n := range length {
			info, err := tx.Commit(t.Context(), commitOf(conversation(n+1), line[max(0, n-1):]...))
			if err != nil {
				return err
			}
			line = append(line, info.ID)
		}
		return tx.Set(t.Context(), "line", line[length-1])
	})
	other := save(t, s, "other", conversation(3)).ID
	last := line[len(line)-1]
	for name, test := range map[string]struct{ tips, known []string }{
		"one turn":          {[]string{last}, []string{line[length-3]}},
		"nothing":           {[]string{last}, []string{last}},
		"known tips":        {[]string{last, other}, []string{other, last}},
		"many":              {[]string{last}, []string{line[2]}},
		"all":               {[]string{last}, nil},
		"of another":        {[]string{other}, []string{last}},
		"two tips":          {[]string{last, other}, []string{line[length-10]}},
		"known is a later":  {[]string{line[5]}, []string{line[9]}},
		"an unrelated base": {[]string{line[3]}, []string{other}},
	} {
		var got []string
		err := s.NewFiles(t.Context(), test.tips, test.known, func(c snapshot.StoredCommit) error {
			got = append(got, c.ID)
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		args := append([]string{"-C", dir, "rev-list", "--topo-order"}, test.tips...)
		for _, id := range test.known {
			args = append(args, "^"+id)
		}
		out, err := exec.CommandContext(t.Context(), "git", args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Fields(string(out)); !slices.Equal(got, want) {
			t.Errorf("%s: %d commits, expected %d\n%v\n%v", name, len(got), len(want), got, want)
		}
	}
}
