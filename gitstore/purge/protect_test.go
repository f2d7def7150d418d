package purge_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/domarkx/domarkx/gitstore/purge"
)

// A repository has a commit on its branch, and an unreachable one with the file "secret".
type repository struct {
	*testing.T
	dir          string
	gone, secret string
	request      purge.Request
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{T: t, dir: gittest.Init(t)}
	shell(t, r.dir, `git commit -qm used --allow-empty
		git checkout -q --orphan gone; echo secret > secret; git add secret; git commit -qm gone
		git rev-parse gone > .git/domarkx-gone; git checkout -q --detach HEAD
		git checkout -q -f master 2>/dev/null || git checkout -q -f main; git branch -qD gone; rm -rf .git/logs .git/ORIG_HEAD`)
	data, err := os.ReadFile(filepath.Join(r.dir, ".git/domarkx-gone"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.dir, ".git/domarkx-gone")); err != nil {
		t.Fatal(err)
	}
	r.gone = strings.TrimSpace(string(data))
	r.secret = r.git("rev-parse", r.gone+":secret")
	r.open()
	return r
}

// copied returns a copy of a repository, which takes one process instead of ten.
func (r *repository) copied(t *testing.T) *repository {
	t.Helper()
	c := &repository{T: t, dir: t.TempDir(), gone: r.gone, secret: r.secret}
	if err := os.CopyFS(c.dir, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	c.open()
	return c
}

// open opens the repository and returns the request to remove the unreachable commit.
func (r *repository) open() {
	r.Helper()
	g, err := gitcmd.Discover(r.Context(), r.dir, gittest.Env())
	if err != nil {
		r.Fatal(err)
	}
	db, err := odb.Open(g.ObjectDir, oid.SHA1)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { db.Close() })
	r.request = purge.Request{Git: g, Objects: db, Commits: []string{r.gone}, Ours: func([]byte) bool { return true }}
}

func (r *repository) git(args ...string) string {
	r.Helper()
	return strings.TrimSpace(gittest.Run(r.T, r.dir, args...))
}

// script runs a script with the ids of the commit and of the secret as $GONE and $SECRET.
func (r *repository) script(text string) {
	r.Helper()
	shell(r.T, r.dir, "GONE="+r.gone+" SECRET="+r.secret+"\n"+text)
}

// has reports whether the repository has the secret.
func (r *repository) has() bool {
	r.Helper()
	return strings.Contains(r.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)"), r.secret)
}

// TestInUse checks that the secret is kept if something of the user's reaches it.
func TestInUse(t *testing.T) {
	template := newRepository(t)
	for name, script := range map[string]string{
		"a branch":                  "git branch used $GONE",
		"a lightweight tag":         "git tag used $GONE",
		"a tag of a file":           "git tag used $SECRET",
		"an annotated tag":          "git tag -am text used $GONE",
		"a hidden ref":              "git update-ref refs/hidden/used $GONE",
		"a packed ref":              "git branch used $GONE; git pack-refs --all",
		"a reflog":                  "git branch --create-reflog used $GONE; git branch -f used HEAD",
		"the reflog of HEAD":        "git checkout -q $GONE; git checkout -q -f -",
		"a stash":                   "git checkout -q -f $GONE; echo x >> secret; git stash -q; git checkout -q -f -; rm -rf .git/logs/HEAD",
		"the index":                 "git update-index --add --cacheinfo 100644,$SECRET,staged",
		"a detached HEAD":           "git update-ref --no-deref HEAD $GONE; rm -rf .git/logs",
		"a linked work tree":        "git worktree add -q --detach w $GONE; rm -rf .git/logs .git/worktrees/w/logs",
		"a linked work tree's own":  "git worktree add -q --detach w; git -C w update-index --add --cacheinfo 100644,$SECRET,staged",
		"a merge in progress":       "echo $GONE > .git/MERGE_HEAD",
		"a cherry-pick":             "echo $GONE > .git/CHERRY_PICK_HEAD",
		"ORIG_HEAD":                 "git update-ref ORIG_HEAD $GONE; rm -rf .git/logs",
		"a bisection":               "echo $GONE > .git/BISECT_START",
		"a rebase in progress":      "mkdir .git/rebase-merge; echo pick $GONE subject > .git/rebase-merge/git-rebase-todo",
		"an unreachable commit":     "git commit-tree -m mine -p $GONE $GONE^{tree} > /dev/null",
		"another branch's old tree": "git branch used $(git commit-tree -m old $GONE^{tree}); git branch -f used $(git commit-tree -m new -p used HEAD^{tree})",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := template.copied(t)
			if name == "an unreachable commit" {
				r.request.Ours = func(commit []byte) bool { return !strings.Contains(string(commit), "mine") }
			}
			r.script(script)
			result, err := purge.Run(t.Context(), r.request)
			if err != nil || !r.has() {
				t.Errorf("%+v, %v, the secret is there: %v", result, err, r.has())
			}
			r.git("fsck", "--strict", "--connectivity-only")
		})
	}
}

// TestNotInUse checks that files which only look like references protect nothing.
func TestNotInUse(t *testing.T) {
	template := newRepository(t)
	for name, script := range map[string]string{
		"nothing":                    "true",
		"FETCH_HEAD":                 "echo $GONE > .git/FETCH_HEAD",
		"a hook":                     "echo $GONE > .git/hooks/x",
		"this program's files":       "mkdir .git/domarkx; echo $GONE > .git/domarkx/x",
		"a replacement":              "git replace $GONE HEAD",
		"a longer number":            "echo ${GONE}0 > .git/X_HEAD",
		"a large file":               "(head -c 1100000 /dev/zero; echo $GONE) > .git/large",
		"this program's unreachable": "git commit-tree -m ours -p $GONE $GONE^{tree} > /dev/null",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := template.copied(t)
			r.script(script)
			if result, err := purge.Run(t.Context(), r.request); err != nil || r.has() || result.Removed != 3 || result.Missed != 0 {
				t.Errorf("%+v, %v, the secret is there: %v", result, err, r.has())
			}
			if result, err := purge.Run(t.Context(), r.request); err != nil || result.Removed+result.Missed != 0 {
				t.Errorf("again: %+v, %v", result, err)
			}
		})
	}
}

// TestKeptPacks checks that packs with a .keep or .promisor file are left and reported.
func TestKeptPacks(t *testing.T) {
	for _, extension := range []string{".keep", ".promisor"} {
		r := newRepository(t)
		r.script("git branch used $GONE; git repack -qad; git branch -qD used; rm -rf .git/logs")
		packs, err := filepath.Glob(filepath.Join(r.dir, ".git/objects/pack/*.pack"))
		if err != nil || len(packs) != 1 {
			t.Fatal(packs, err)
		}
		mark := strings.TrimSuffix(packs[0], ".pack") + extension
		if err := os.WriteFile(mark, nil, 0o444); err != nil {
			t.Fatal(err)
		}
		result, err := purge.Run(t.Context(), r.request)
		if err != nil || len(result.Left) != 1 || filepath.Base(result.Left[0]) != filepath.Base(packs[0]) || result.Missed == 0 || result.Removed != 0 || !r.has() {
			t.Errorf("%s: %+v, %v", extension, result, err)
		}
		if err := os.Remove(mark); err != nil {
			t.Fatal(err)
		}
		if result, err := purge.Run(t.Context(), r.request); err != nil || len(result.Left) != 0 || result.Missed != 0 || result.Removed == 0 || r.has() {
			t.Errorf("without %s: %+v, %v", extension, result, err)
		}
	}
}

// TestReplacedPacks checks that Git's indexes over packs and commits are valid afterwards, and that a new pack has the
// time of the pack that it replaces.
func TestReplacedPacks(t *testing.T) {
	template := newRepository(t)
	for name, script := range map[string]string{
		"a pack":                  "true",
		"a bitmap":                "git repack -qadb",
		"a multi-pack index":      "git multi-pack-index write --no-progress",
		"a commit graph":          "git commit-graph write --reachable --no-progress",
		"a chain of graphs":       "git commit-graph write --reachable --split --no-progress",
		"loose and packed":        "git unpack-objects -q < $(ls .git/objects/pack/*.pack)",
		"two packs with it":       "git rev-list --objects --no-object-names used | git pack-objects -q .git/objects/pack/pack > /dev/null",
		"a pack without an index": "cp $(ls .git/objects/pack/*.pack) .git/objects/pack/pack-0000.pack",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := template.copied(t)
			r.script("git branch used $GONE; git repack -qad\n" + script + "\ngit branch -qD used; rm -rf .git/logs")
			old := time.Now().Add(-100 * time.Hour).Truncate(time.Second)
			packs, err := filepath.Glob(filepath.Join(r.dir, ".git/objects/pack/*.pack"))
			if err != nil {
				t.Fatal(err)
			}
			for _, pack := range packs {
				if err := os.Chtimes(pack, old, old); err != nil {
					t.Fatal(err)
				}
			}
			if result, err := purge.Run(t.Context(), r.request); err != nil || result.Removed != 3 || result.Missed != 0 || r.has() {
				t.Errorf("%+v, %v, the secret is there: %v", result, err, r.has())
			}
			r.git("fsck", "--strict", "--full")
			if strings.Contains(name, "graph") {
				r.git("commit-graph", "verify", "--no-progress")
			}
			packs, err = filepath.Glob(filepath.Join(r.dir, ".git/objects/pack/pack-????????????????????????????????????????.pack"))
			if err != nil || len(packs) == 0 {
				t.Errorf("%d packs, %v", len(packs), err)
			}
			for _, pack := range packs {
				if info, err := os.Stat(pack); err != nil || !info.ModTime().Equal(old) {
					t.Errorf("%s is of %v, %v; expected %v", pack, info.ModTime(), err, old)
				}
			}
		})
	}
}

// TestNothingIsRemoved checks that nothing is removed if the objects in use cannot be determined.
func TestNothingIsRemoved(t *testing.T) {
	template := newRepository(t)
	for name, c := range map[string]struct {
		script, want string
		cancel       bool
	}{
		"a branch without its commit": {script: "echo 1111111111111111111111111111111111111111 > .git/refs/heads/broken", want: "nothing was removed"},
		"a damaged index":             {script: "echo garbage > .git/index", want: "nothing was removed"},
		"the end of the context":      {script: "true", want: context.Canceled.Error(), cancel: true},
		"a damaged commit": {script: `p=.git/objects/$(echo $GONE | cut -c1-2)/$(echo $GONE | cut -c3-); chmod +w $p
			printf '\170\234\113\314\115\005\000' > $p`, want: r40},
	} {
		t.Run(name, func(t *testing.T) {
			r := template.copied(t)
			r.script(c.script)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cancel {
				cancel()
			}
			result, err := purge.Run(ctx, r.request)
			if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(c.want, r40, r.gone)) || result.Removed != 0 {
				t.Errorf("%+v, %v", result, err)
			}
			path := filepath.Join(r.dir, ".git/objects", r.secret[:2], r.secret[2:])
			if _, err := os.Stat(path); err != nil {
				t.Errorf("the secret: %v", err)
			}
		})
	}
}

// r40 stands for the id of the commit.
const r40 = "<gone>"

// TestWrittenAgain checks that an object is kept if a program writes it again after the removal has begun.
func TestWrittenAgain(t *testing.T) {
	r := newRepository(t)
	r.script("git commit-tree -m other HEAD^{tree} > /dev/null") // Ours is asked about it
	path := filepath.Join(r.dir, ".git/objects", r.secret[:2], r.secret[2:])
	later := time.Now().Add(time.Hour)
	asked := 0
	r.request.Ours = func([]byte) bool {
		asked++
		if err := os.Chtimes(path, later, later); err != nil {
			t.Error(err)
		}
		return true
	}
	result, err := purge.Run(t.Context(), r.request)
	if err != nil || asked != 1 || result.Missed != 1 || result.Removed != 2 || !r.has() {
		t.Errorf("%+v, %v, asked %d times", result, err, asked)
	}
}

// TestWhatIsMissing checks requests for objects that are not there, as after an interruption.
func TestWhatIsMissing(t *testing.T) {
	r := newRepository(t)
	r.request.Commits = []string{"", "HEAD", strings.Repeat("1", 40), r.gone[:39]}
	if result, err := purge.Run(t.Context(), r.request); err != nil || fmt.Sprint(result) != fmt.Sprint(purge.Result{}) || !r.has() {
		t.Errorf("%+v, %v", result, err)
	}
	tree := r.git("rev-parse", r.gone+"^{tree}")
	if err := os.Remove(filepath.Join(r.dir, ".git/objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	r.request.Commits = []string{r.gone, r.secret}
	if result, err := purge.Run(t.Context(), r.request); err != nil || result.Removed != 2 || r.has() {
		t.Errorf("without its tree: %+v, %v", result, err)
	}
}
