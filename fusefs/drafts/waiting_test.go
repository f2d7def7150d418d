package drafts_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/domarkx/domarkx/fusefs/drafts"
)

func TestListWaiting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "drafts")
	waiting := func() []drafts.Waiting {
		t.Helper()
		found, err := drafts.ListWaiting(dir)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if got := waiting(); len(got) != 0 {
		t.Errorf("a directory that does not exist has %v", got)
	}
	j := open(t, dir)
	for _, d := range []drafts.Draft{
		{Name: "saved", State: drafts.Saved, Data: []byte("x")},
		{Name: "removed", State: drafts.Removed},
		{Name: "broken", State: drafts.Broken, Data: []byte("x")},
		{Name: "merged", State: drafts.Merged, Data: []byte("x")},
	} {
		d.Key = put(t, j, d)
		if d.Name == "merged" {
			damaged := filepath.Join(dir, filepath.Dir(d.Key), "damaged.draft")
			if err := os.WriteFile(damaged, []byte("no draft"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []drafts.Waiting{{"saved", os.Getpid(), true}, {"removed", os.Getpid(), true}}
	if diff := cmp.Diff(want, waiting(), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	want[0].Alive, want[1].Alive = false, false
	if diff := cmp.Diff(want, waiting(), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}
