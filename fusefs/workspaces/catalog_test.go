//go:build linux || darwin

package workspaces_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name   string
		number int
		id     string
	}{{"0001-abc", 1, "abc"}, {"12345-a", 12345, "a"}, {"0000-a-b", 0, "a-b"}} {
		number, id, ok := workspaces.ParseName(c.name)
		if !ok || number != c.number || id != c.id || workspaces.Name(domarkx.Version{Number: number, ID: id}) != c.name {
			t.Errorf("%s is %d, %q, %v", c.name, number, id, ok)
		}
	}
	for _, name := range []string{"", "latest", "1-a", "00001-a", "0001", "0001-", "-0001-a", "+001-a", "99999999999-a"} {
		if _, _, ok := workspaces.ParseName(name); ok {
			t.Errorf("%q is taken", name)
		}
	}
}

func TestComponents(t *testing.T) {
	names := []string{"a", "b/c", "b/d/e", "b-x", "c/d"}
	for directory, want := range map[string]string{"": "a b b-x c", "b": "c d", "b/d": "e", "x": ""} {
		if got := strings.Join(workspaces.Components(directory, names), " "); got != want {
			t.Errorf("in %q: %s, want %s", directory, got, want)
		}
	}
}

// A store is workspaces in memory. It counts the versions that are read.
type store struct {
	domarkx.VersionReader
	tips map[string]string
	all  map[string]domarkx.Version
	read int
}

func (s *store) commit(workspace, id string, number int, parents ...string) {
	s.all[id] = domarkx.Version{ID: id, Number: number, Parents: parents}
	s.tips[workspace] = id
}

func (s *store) Workspaces(ctx context.Context) ([]domarkx.Version, error) {
	var all []domarkx.Version
	for name := range s.tips {
		v, err := s.WorkspaceTip(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func (s *store) WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error) {
	v, err := s.Version(ctx, s.tips[name])
	v.Workspace = name
	return v, err
}

func (s *store) Version(_ context.Context, id string) (domarkx.Version, error) {
	v, ok := s.all[id]
	if !ok {
		return v, fmt.Errorf("version %q: %w", id, domarkx.ErrNotFound)
	}
	return v, nil
}

// Versions follows the parents by descending number.
func (s *store) Versions(ctx context.Context, id string) iter.Seq2[domarkx.Version, error] {
	return func(yield func(domarkx.Version, error) bool) {
		waiting := map[string]bool{id: true}
		for len(waiting) > 0 {
			next := ""
			for id := range waiting {
				if next == "" || s.all[id].Number > s.all[next].Number || s.all[id].Number == s.all[next].Number && id < next {
					next = id
				}
			}
			delete(waiting, next)
			s.read++
			if !yield(s.Version(ctx, next)) {
				return
			}
			for _, p := range s.all[next].Parents {
				waiting[p] = true
			}
		}
	}
}

func TestPathsOfVersions(t *testing.T) {
	s := &store{tips: map[string]string{}, all: map[string]domarkx.Version{}}
	f := workspaces.New(workspaces.Config{Workspaces: s, Contents: s})
	expect := func(id, preferred, want string) {
		t.Helper()
		if got, err := f.Path(t.Context(), id, preferred); err != nil || got != want {
			t.Errorf("version %s is at %q, %v, want %q", id, got, err, want)
		}
	}
	s.commit("w", "a", 1)
	expect("a", "w", "w/0001-a")
	expect("a", "nothing", "w/0001-a")
	for i := 2; i <= 100; i++ {
		s.commit("w", fmt.Sprintf("a%d", i), i, fmt.Sprintf("a%d", i-1))
		if i == 2 {
			s.commit("w", "a2", 2, "a")
		}
		expect("a", "w", "w/0001-a")
	}
	if s.read > 300 {
		t.Errorf("%d versions were read for a hundred that followed one another", s.read)
	}
	s.commit("other", "b", 2, "a")
	expect("b", "w", "other/0002-b")
	expect("a", "other", "other/0001-a")
	s.commit("w", "m", 101, "a100", "b")
	expect("b", "w", "w/0002-b")
	expect("a50", "w", "w/0050-a50")
	delete(s.tips, "w")
	expect("m", "w", ".versions/0101-m")
	expect("a", "w", "other/0001-a")
}

func TestInodeNumbersDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for parent := range uint64(100) {
		for i := range 1000 {
			name := fmt.Sprintf("f%d", i)
			n := workspaces.Inode(parent, name)
			if was, ok := seen[n]; ok || n <= 1 {
				t.Fatalf("%d/%s has the inode number %d of %s", parent, name, n, was)
			}
			seen[n] = fmt.Sprintf("%d/%s", parent, name)
		}
	}
}
