package refdb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

func TestForgetValues(t *testing.T) {
	dir := gittest.Init(t)
	ids := gittest.Commits(t, dir, 3)
	r := open(t, dir)
	name := session("s")
	old := ""
	for _, id := range ids {
		if err := update(t, r, refdb.Change{Ref: name, Old: old, New: id}); err != nil {
			t.Fatal(err)
		}
		old = id
	}
	release, err := r.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	prefix := strings.TrimSuffix(name, "s")
	if err := r.ForgetValues(func(id string) bool { return id == ids[1] }, prefix, "refs/domarkx-nothing/"); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, ".git", "logs", name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(log), ids[1]) || strings.Count(string(log), "\n") != 2 {
		t.Errorf("the reflog is %q", log)
	}
	if values, _, err := r.Reflog(name); err != nil || len(values) != 2 || values[0] != ids[2] || values[1] != ids[0] {
		t.Errorf("the reflog has %q, %v", values, err)
	}
	gittest.Run(t, dir, "fsck", "--strict")
	gittest.Run(t, dir, "reflog", "show", name)
}
