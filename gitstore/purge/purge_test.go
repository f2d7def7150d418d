package purge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/domarkx/domarkx/gitstore/purge"
)

func shell(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, gittest.Env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// TestRun removes a commit whose tree shares a file with a commit in use, from loose objects, from a pack, and from a pack that has
// nothing else.
func TestRun(t *testing.T) {
	for name, pack := range map[string]string{
		"loose":       "true",
		"packed":      "git repack -qad",
		"pack of own": "git rev-list --objects --no-object-names gone | git pack-objects -q .git/objects/pack/pack >/dev/null && git prune-packed -q",
	} {
		t.Run(name, func(t *testing.T) {
			dir := gittest.Init(t)
			write := func(name, text string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("shared", "shared\n")
			gittest.Run(t, dir, "add", ".")
			gittest.Run(t, dir, "commit", "-qm", "used")
			gittest.Run(t, dir, "branch", "used")
			gittest.Run(t, dir, "checkout", "-q", "--orphan", "gone")
			write("secret", "secret\n")
			gittest.Run(t, dir, "add", ".")
			gittest.Run(t, dir, "commit", "-qm", "gone")
			gone := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD"))
			secret := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD:secret"))
			shared := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD:shared"))
			shell(t, dir, pack)
			shell(t, dir, "git checkout -q -f used; git branch -qD gone; rm -r .git/logs; rm -f .git/ORIG_HEAD")
			g, err := gitcmd.Discover(t.Context(), dir, gittest.Env())
			if err != nil {
				t.Fatal(err)
			}
			db, err := odb.Open(g.ObjectDir, oid.SHA1)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			request := purge.Request{Git: g, Objects: db, Commits: []string{gone}, Keep: []string{secret}, Ours: func([]byte) bool { return true }}
			if result, err := purge.Run(t.Context(), request); err != nil || result.Removed != 2 || result.Missed != 0 || len(result.Left) != 0 {
				t.Errorf("with the secret in use: %+v, %v", result, err)
			}
			request.Keep, request.Commits = nil, []string{gone, secret}
			if result, err := purge.Run(t.Context(), request); err != nil || result.Removed != 1 {
				t.Errorf("the secret: %+v, %v", result, err)
			}
			all := gittest.Run(t, dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
			if strings.Contains(all, secret) || strings.Contains(all, gone) || !strings.Contains(all, shared) {
				t.Errorf("the repository has %s", all)
			}
			gittest.Run(t, dir, "fsck", "--strict")
		})
	}
}

// TestRunProtects checks that the objects of the user's own unreachable commits are kept.
func TestRunProtects(t *testing.T) {
	dir := gittest.Init(t)
	ids := gittest.Commits(t, dir, 2)
	g, err := gitcmd.Discover(t.Context(), dir, gittest.Env())
	if err != nil {
		t.Fatal(err)
	}
	db, err := odb.Open(g.ObjectDir, oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tree := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", ids[0]+"^{tree}"))
	request := purge.Request{Git: g, Objects: db, Commits: []string{tree}, Ours: func([]byte) bool { return false }}
	if result, err := purge.Run(t.Context(), request); err != nil || result.Removed != 0 {
		t.Errorf("%+v, %v", result, err)
	}
}
