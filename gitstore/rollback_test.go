package gitstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// broken creates a session of three snapshots, removes objects of the numbered ones, and opens it.
func broken(t *testing.T, lost ...int) (s *gitstore.Store, dir string, ids []string, told *[]string) {
	t.Helper()
	s, dir = newStore(t)
	for n := range 3 {
		ids = append(ids, save(t, s, "s", conversation(n+1)).ID)
	}
	save(t, s, "other", conversation(7))
	unpack(t, dir)
	for _, n := range lost {
		id := ids[n]
		if n == 1 { // keep its commit
			id = git(t, dir, "rev-parse", id+"^{tree}")
		}
		if err := os.Remove(filepath.Join(dir, "objects", id[:2], id[2:])); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, dir)
	told = &[]string{}
	s.OnRollback(func(err error) { *told = append(*told, err.Error()) })
	return s, dir, ids, told
}

func TestRollback(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tests := map[string]func(s *gitstore.Store) (string, error){
		"tip": func(s *gitstore.Store) (string, error) {
			info, err := s.Tip(ctx, "s")
			return info.ID, err
		},
		"list": func(s *gitstore.Store) (string, error) {
			infos, err := s.List(ctx)
			if len(infos) != 2 {
				return "", errors.Join(err, errors.New("not both sessions"))
			}
			return infos[1].ID, err
		},
		"update": func(s *gitstore.Store) (id string, err error) {
			err = s.Update(ctx, "test", func(tx *gitstore.Tx) error {
				info, err := tx.Tip(ctx, "s")
				id = info.ID
				return err
			})
			return id, err
		},
		"list and update": func(s *gitstore.Store) (id string, err error) {
			err = s.Update(ctx, "test", func(tx *gitstore.Tx) error {
				infos, err := s.List(ctx) // moves nothing, as the store holds the lock
				if err != nil {
					return err
				}
				info, err := tx.Tip(ctx, "s")
				if id = infos[1].ID; info.ID != id {
					t.Errorf("listed %s, in the update %s", id, info.ID)
				}
				return err
			})
			return id, err
		},
		"fsck": func(s *gitstore.Store) (string, error) {
			found, err := s.Fsck(ctx, nil)
			if len(found) != 1 || !strings.Contains(found[0].What, "moved it back to") || strings.Contains(found[0].Fix, "backup") {
				t.Errorf("fsck found %+v", found)
			}
			info, tipErr := s.Tip(ctx, "s")
			return info.ID, errors.Join(err, tipErr)
		},
	}
	for name, use := range tests {
		for want, lost := range [][]int{{2, 1}, {2}} {
			if gittest.Rounds(1, 2) == 1 && name != "tip" && want == 0 {
				continue // how far the ref goes back is the same for all
			}
			s, dir, ids, told := broken(t, lost...)
			if got, err := use(s); err != nil || got != ids[want] {
				t.Errorf("%s, %v lost: the session is at %s, %v, want %s", name, lost, got, err, ids[want])
			}
			if len(*told) != 1 || !strings.Contains((*told)[0], `session "s"`) || !strings.Contains((*told)[0], ids[want]) {
				t.Errorf("%s: told %q", name, *told)
			}
			if ref := git(t, dir, "rev-parse", "refs/domarkx/sessions/s"); ref != ids[want] {
				t.Errorf("%s: the ref is at %s, want %s", name, ref, ids[want])
			}
			if _, err := s.Tip(ctx, "s"); err != nil || len(*told) != 1 {
				t.Errorf("%s: once more: %v, %q", name, err, *told)
			}
		}
	}
}

func TestRollbackWithoutWholeCommit(t *testing.T) {
	ctx := context.Background()
	s, _, ids, told := broken(t, 2, 1, 0)
	if _, err := s.Tip(ctx, "s"); !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), ids[2]) || len(*told) > 0 {
		t.Errorf("with a whole commit left by none: %v, told %q", err, *told)
	}
	// A session that never had an intact commit is removed.
	s, dir := newStore(t)
	id := save(t, s, "s", conversation(1)).ID
	unpack(t, dir)
	if err := os.Remove(filepath.Join(dir, "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	if infos, err := open(t, dir).List(ctx); err != nil || len(infos) != 0 {
		t.Errorf("listed %+v, %v", infos, err)
	}
	git(t, dir, "gc", "-q")
}
