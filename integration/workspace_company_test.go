package integration_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestWorkspaceInCompany runs calls while other processes push, collect garbage and
// rewind. Each result must be linked to the version that its call created, and nothing
// may block forever.
func TestWorkspaceInCompany(t *testing.T) {
	t.Parallel()
	const callers, each = 3, 2
	s, directory := newWorked(t)
	hub := filepath.Join(t.TempDir(), "hub.git")
	s.git("init", "-q", "--bare", hub)
	s.git("remote", "add", "origin", hub)
	s.domarkx("push", "origin", "s")
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := range each {
				s.run(fmt.Sprintf("echo %d >file.%d.%d; cat file.*", i, caller, i))
			}
		})
	}
	for _, others := range [][]string{{"push", "origin", "s"}, {"gc"}, {"status"}, {"fsck"}} {
		all.Go(func() {
			for range each {
				if o := s.try("", "git-domarkx", others...); o.code != 0 {
					t.Errorf("%q: %s", others, o)
				}
			}
		})
	}
	all.Go(func() {
		for range each {
			lines := strings.Count(s.domarkx("log", "--messages", "s"), "\n")
			if o := s.try("", "git-domarkx", "rewind", fmt.Sprintf("s#%d", lines-1)); o.code != 0 && !strings.Contains(o.err, "not found") { // another rewind was faster
				t.Errorf("rewind: %s", o)
			}
		}
	})
	all.Wait()
	for line := range strings.Lines(s.domarkx("log", "--messages", "s")) {
		version, call := strings.Split(line, "\t")[3], strings.Split(line, "\t")[4]
		_, name, ok := strings.Cut(call, ">")
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, ";")
		if o := s.try("", "git", "cat-file", "-e", version+":sh/"+name); o.code != 0 {
			t.Errorf("the call that wrote %s is linked to %s, which has no such file", name, version)
		}
	}
	s.settled(directory)
	s.domarkx("push", "origin", "s")
	s.sound()
	noLocks(t, s.path(".git"), "at the end")
}
