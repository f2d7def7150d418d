package integration_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestShapesRefused checks that the program does not write at all to a repository that it
// cannot write correctly.
func TestShapesRefused(t *testing.T) {
	t.Parallel()
	reftable := func(s *site) {
		s.git("init", "-q", "-b", "main", "repo")
		r := s.at("repo")
		r.git("commit", "-q", "--allow-empty", "-m", "Begin")
		r.git("config", "core.repositoryFormatVersion", "1")
		r.git("config", "extensions.refStorage", "reftable")
		r.write(".git/reftable/tables.list", "")
		r.write(".git/HEAD", "ref: refs/heads/.invalid\n")
	}
	for _, test := range []struct {
		name, word string
		make       func(s *site)
	}{
		{"reftable", "reftable", reftable},
		{"unknown extension", "extension", func(s *site) {
			s.git("init", "-q", "-b", "main", "repo")
			r := s.at("repo")
			r.git("config", "core.repositoryFormatVersion", "1")
			r.git("config", "extensions.frobnicate", "yes")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if test.name == "reftable" && s.try("", "git", "init", "-q", "--ref-format=reftable", "probe").code == 0 {
				t.Skip("this git reads the reftable backend")
			}
			test.make(s)
			s.write("s.md", document("s", 2))
			repo := s.at("repo")
			before := takeCensus(t, s.dir)
			for _, args := range [][]string{
				{"import", "../s.md"}, {"append", "--new", "-m", "x", "s"}, {"list"}, {"show", "s"}, {"rm", "s"}, {"restore", "s"},
				{"gc"}, {"push"}, {"fetch"}, {"pull"}, {"status"}, {"edit", "s"}, {"rename", "s", "t"}, {"mount", s.path("mnt")},
			} {
				o := repo.try("text\n", "git-domarkx", args...)
				if o.code != 128 || o.out != "" || !strings.Contains(strings.ToLower(o.err), test.word) {
					t.Errorf("expected exit 128 and a word about %s: %s", test.word, o)
				}
			}
			if changed := before.changes(takeCensus(t, s.dir)); len(changed) > 0 {
				t.Errorf("these were touched: %q", changed)
			}
		})
	}
}

// TestShapesIncomplete uses sessions that Git fetched only in part.
func TestShapesIncomplete(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		options []string
	}{
		{"without blobs", []string{"--filter=blob:none"}},
		{"without history", []string{"--depth=1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root, _ := shapes[0].layOut(t)
			origin := root.at("../origin.git")
			want := origin.domarkx("show", "theirs")
			root.git(append([]string{"clone", "-q", "--no-checkout", "file://" + origin.dir, "part"}, test.options...)...)
			part := root.at("part")
			part.git(append(append([]string{"fetch", "-q"}, test.options...), "origin", "refs/domarkx/sessions/*:refs/domarkx/sessions/*")...)
			if got := part.domarkx("show", "theirs"); got != want {
				t.Errorf("show gives %q, expected %q", got, want)
			}
			part.domarkx("append", "--new", "-m", "appended to a part", "theirs")
			part.domarkx("log", "theirs")
			part.domarkx("list")
			origin.domarkx("append", "--new", "-m", "meanwhile there", "theirs")
			part.domarkx("pull")
			part.domarkx("push")
			if got, want := part.tip("theirs"), origin.tip("theirs"); got != want {
				t.Errorf("after the push here is %s, there %s", got, want)
			}
			got := part.domarkx("show", "theirs")
			for _, text := range []string{"message 0", "message 4", "one more", "appended to a part", "meanwhile there"} {
				if n := strings.Count(got, text); n != 1 {
					t.Errorf("%q is %d times in the merged session:\n%s", text, n, got)
				}
			}
			part.intact(test.name)
			origin.intact(test.name, "remote")
		})
	}
}

// TestShapesPackedRefs removes and renames sessions after git pack-refs. Only the lines
// of sessions in packed-refs may change.
func TestShapesPackedRefs(t *testing.T) {
	if os.Getenv("GIT_DEFAULT_REF_FORMAT") == "reftable" {
		t.Skip("the reftable backend has no packed-refs")
	}
	t.Parallel()
	r := newRepository(t)
	r.git("commit", "-q", "--allow-empty", "-m", "Begin")
	r.git("tag", "v1")
	for i := range 3 {
		r.domarkx("append", "--new", "-m", "x", fmt.Sprintf("s%d", i))
	}
	r.git("pack-refs", "--all")
	others := func() (lines []string) {
		for line := range strings.Lines(r.read(".git/packed-refs")) {
			if !strings.Contains(line, "refs/domarkx") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	before := strings.Join(others(), "")
	r.domarkx("rm", "s0")
	r.domarkx("rename", "s1", "renamed")
	r.domarkx("append", "--new", "-m", "y", "s2")
	r.domarkx("restore", "s0")
	if got := strings.Join(others(), ""); got != before {
		t.Errorf("packed-refs had %q, and has %q", before, got)
	}
	if got := r.domarkx("list"); strings.Count(got, "\n") != 3 || strings.Count(got, "\t1\t") != 2 || strings.Count(got, "\t2\t") != 1 || !strings.Contains("\n"+got, "\nrenamed\t") {
		t.Errorf("list prints %q", got)
	}
	r.sound()
}
