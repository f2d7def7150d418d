package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/derived"
)

func list(t *testing.T, s *gitstore.Store) []domarkx.Info {
	t.Helper()
	infos, err := s.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return infos
}

func TestListCache(t *testing.T) {
	s, dir := newStore(t)
	manySessions(t, s, 300, 1)
	cache := filepath.Join(dir, "domarkx", "list-cache")
	want := list(t, s)
	if len(want) != 300 || want[0].Name != "directory0/session0" || want[0].Messages != 1 || want[0].Subject != "import session 0" {
		t.Fatalf("%d sessions, the first %+v", len(want), want[0])
	}
	sound, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(cache); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the cache has mode %v, %v", info.Mode(), err)
	}
	damaged := func(change func(data []byte) []byte) []byte { return change(append([]byte(nil), sound...)) }
	for name, data := range map[string][]byte{
		"sound":     sound,
		"empty":     {},
		"cut short": sound[:len(sound)/2],
		"one bit":   damaged(func(d []byte) []byte { d[len(d)/2] ^= 4; return d }),
		"magic":     damaged(func(d []byte) []byte { d[0] = 'D'; return d }),
		"longer":    append(append([]byte(nil), sound...), 0),
	} {
		if err := os.WriteFile(cache, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, list(t, s)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	changed := save(t, s, "directory0/session0", conversation(2))
	if got := list(t, s); got[0].ID != changed.ID || got[0].Messages != 2 {
		t.Errorf("after a change: %+v", got[0])
	} else if diff := cmp.Diff(want[1:], got[1:]); diff != "" {
		t.Errorf("a change of one session changed others: %s", diff)
	}
	if again, err := os.ReadFile(cache); err != nil || string(again) != string(sound) {
		t.Errorf("one change wrote the cache again: %v", err)
	}
}

// TestListAbout checks that the description of a session is read once, survives in the cache, and is read again for a changed one.
func TestListAbout(t *testing.T) {
	s, dir := newStore(t)
	manySessions(t, s, 30, 1)
	read := map[string]int{}
	about := func(_ context.Context, info domarkx.Info) (*domarkx.About, error) {
		if read[info.Name]++; info.Name == "directory1/session1" {
			return nil, errors.New("no")
		}
		return &domarkx.About{Title: info.ID, Tags: []string{"a", info.Name}, Active: 7}, nil
	}
	listed := func(s *gitstore.Store) []domarkx.Info {
		t.Helper()
		infos, err := s.ListAbout(context.Background(), about)
		if err != nil || len(infos) != 30 {
			t.Fatalf("%d sessions, %v", len(infos), err)
		}
		return infos
	}
	first := listed(s)
	if i := slices.IndexFunc(first, func(i domarkx.Info) bool { return i.About == nil }); first[i].Name != "directory1/session1" || first[i].Described().Active != first[i].Date {
		t.Errorf("of what cannot be read: %+v", first[i])
	}
	for _, store := range []*gitstore.Store{s, open(t, dir)} {
		if diff := cmp.Diff(first, listed(store)); diff != "" {
			t.Error(diff)
		}
	}
	if read["directory0/session0"] != 1 || read["directory1/session1"] != 3 {
		t.Errorf("read %v", read)
	}
	changed := save(t, s, "directory0/session0", conversation(2))
	if got := listed(s); got[0].About.Title != changed.ID || read["directory0/session0"] != 2 {
		t.Errorf("after a change: %+v", got[0].About)
	}
	if err := derived.RemoveTexts(filepath.Join(dir, "domarkx")); err != nil {
		t.Fatal(err)
	}
	if listed(open(t, dir)); read["directory0/session0"] != 3 {
		t.Errorf("after a redaction: read %v", read)
	}
}

func FuzzListCache(f *testing.F) {
	f.Add(gitstore.EncodeListCache([]domarkx.Info{{ID: fmt.Sprintf("%040d", 1), Number: 3, Messages: 2, Bytes: 1 << 40, Date: -1,
		Subject: "a", Preview: "b\n", Operation: "c"}, {ID: fmt.Sprintf("%040d", 2), About: &domarkx.About{Title: "t", Agent: "a", Branch: "b", Tags: []string{"x", ""}, Started: 1, Active: -2, SourceID: "i", SourceCreated: "c", SourceUpdated: "u"}}}))
	f.Fuzz(func(t *testing.T, records []byte) {
		cache := gitstore.DecodeListCache(string(records))
		again := gitstore.DecodeListCache(string(gitstore.EncodeListCache(cache)))
		if len(cache) > 0 {
			if diff := cmp.Diff(cache, again); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// TestRefs checks that Refs returns the same tips as List, and also those whose objects are missing.
func TestRefs(t *testing.T) {
	s, dir := newStore(t)
	manySessions(t, s, 3, 1)
	got, err := s.Refs()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, info := range list(t, s) {
		want[info.Name] = info.ID
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 3 {
		t.Error(diff)
	}
	missing := strings.Repeat("12", 20)
	if err := os.WriteFile(filepath.Join(dir, "refs", "domarkx", "sessions", "broken"), []byte(missing+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Refs(); err != nil || got["broken"] != missing {
		t.Errorf("%v, %v", got, err)
	}
}
