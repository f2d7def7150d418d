package integration_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/filesystem"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// A committer commits versions of a workspace through the same packages as the program,
// but without a tool call and a process for each.
type committer struct {
	b     *testing.B
	store *gitstore.Store
	live  *plugins.Live
	tip   domarkx.Version
}

// storeOf adapts the store to plugins.
type storeOf struct{ *gitstore.Store }

func (s storeOf) Begin(ctx context.Context, base string) (plugins.Pending, error) {
	return s.BeginVersion(ctx, base)
}

// newCommitter creates a workspace on the directory files/ of a repository.
func newCommitter(b *testing.B, s *site) *committer {
	b.Helper()
	git, err := gitcmd.Discover(b.Context(), s.dir, s.env)
	if err != nil {
		b.Fatal(err)
	}
	c := &committer{b: b}
	if c.store, err = gitstore.Open(b.Context(), git); err != nil {
		b.Fatal(err)
	}
	home := plugins.Config{Dir: filepath.Join(git.StateDir(), "workspaces"), WorkTree: git.WorkTree, Limits: func() (plugins.Limits, error) {
		return plugins.Limits{Forbidden: []string{git.CommonDir}}, nil
	}}
	config := jsonvalue.ObjectValue().With("type", jsonvalue.StringValue("filesystem")).With("path", jsonvalue.StringValue("files"))
	c.live, err = plugins.New([]domarkx.Plugin{filesystem.New()}, storeOf{c.store}, home).Open(b.Context(),
		plugintest.MayOpen("w", []domarkx.ResourceSpec{{ID: "fs", Type: "filesystem", Config: config}}), plugins.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.live.Close(context.Background()) })
	return c
}

// commit commits a version, which must differ from the last one.
func (c *committer) commit() {
	c.b.Helper()
	ctx := c.b.Context()
	changes, err := c.live.Commit(ctx)
	if err != nil {
		c.b.Fatal(err)
	}
	if !changes.Changed {
		c.b.Fatal("nothing changed")
	}
	who := domarkx.Signature{Name: "Ann", Email: "ann@example.org", When: time.Now()}
	commit := domarkx.VersionCommit{Resources: changes.Resources, Operation: "change", Subject: "change", Author: who, Committer: who}
	if c.tip.ID != "" {
		commit.Parents = []string{c.tip.ID}
	}
	err = c.store.Update(ctx, "change w", func(tx *gitstore.Tx) error {
		if c.tip, err = tx.CommitVersion(ctx, "w", commit); err != nil {
			return err
		}
		return tx.SetWorkspace(ctx, "w", c.tip.ID)
	})
	if err == nil {
		err = changes.Settle()
	}
	if err == nil {
		err = c.live.Committed(ctx, c.tip)
	}
	if err != nil {
		c.b.Fatal(err)
	}
}

// BenchmarkCommit commits versions of a directory with 50,000 files.
func BenchmarkCommit(b *testing.B) {
	const directories, files, changed = 1000, 50, 10
	ours, theirs := newRepository(b), newRepository(b)
	file := func(d, f int) string { return fmt.Sprintf("files/area%02d/part%02d/file%03d.go", d/50, d%50, f) }
	old := time.Now().Add(-time.Hour)
	for _, s := range []*site{ours, theirs} {
		for d := range directories {
			for f := range files {
				s.write(file(d, f), fmt.Sprintf("package part%d\n\n// File %d of %d.\n%0500d\n", d, f, d, d*f))
				if err := os.Chtimes(s.path(file(d, f)), old, old); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	c := newCommitter(b, ours)
	add := func() { theirs.must("", "sh", "-c", "git add -A && git write-tree") }
	start := time.Now()
	c.commit()
	first := time.Since(start)
	packs, _ := filepath.Glob(ours.path(".git/objects/pack/*.pack"))
	start = time.Now()
	add()
	score(b, "first version of 50,000 files: time, against git add -A and write-tree", ratio(first, time.Since(start)), 1, "x")
	score(b, "first version of 50,000 files: packs", float64(len(packs)), 4, "packs")
	c.again(ours, "files/touched")
	round := 0
	change := func() {
		round++
		for _, s := range []*site{ours, theirs} {
			for i := range changed {
				s.write(file(i*directories/changed, (i+round)%files), fmt.Sprintf("round %d\n", round))
			}
		}
	}
	var times [2][]time.Duration
	for range 15 {
		change()
		for i, run := range []func(){c.commit, add} {
			start := time.Now()
			run()
			times[i] = append(times[i], time.Since(start))
		}
	}
	score(b, "version of 50,000 files, 10 changed: time, against git add -A and write-tree", ratio(median(times[0]), median(times[1])), 1, "x")
	score(b, "version of 50,000 files, 10 changed: fastest, against the fastest of git", ratio(times[0][0], times[1][0]), 1, "x")
	score(b, "version of 50,000 files, 10 changed: time", milliseconds(median(times[0])), 0, "ms")
}

// BenchmarkTurn runs small calls in a small workspace.
func BenchmarkTurn(b *testing.B) {
	const turns = 10
	s, _ := newWorked(b)
	most, largest := 0, int64(0)
	start := time.Now()
	for i := range turns {
		objects, size := s.turn(i)
		most, largest = max(most, objects), max(largest, size)
	}
	score(b, "turn with a small call on a small workspace: objects, at most", float64(most), 15, "objects")
	score(b, "turn with a small call on a small workspace: data, at most", float64(largest)/1000, 10, "KB")
	score(b, "turn with a small call on a small workspace: time", milliseconds(time.Since(start))/turns, 0, "ms")
}

// again commits one small change, after which the stat cache trusts the (old) times of
// all other files.
func (c *committer) again(s *site, name string) {
	s.write(name, "x")
	c.commit()
}
