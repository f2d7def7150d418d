package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A shape is a layout of a Git repository.
type shape struct {
	name string
	// make creates the layout below the directory of s, and returns a site from which
	// commands work in it. Its remote is s.path("../origin.git"), which has the session
	// theirs.
	make func(s *site) *site
}

var shapes = []shape{
	{"plain", func(s *site) *site { return cloneHere(s, "repo") }},
	{"below", func(s *site) *site { return cloneHere(s, "repo").at("docs") }},
	{"bare", func(s *site) *site { return cloneHere(s, "repo.git", "--bare") }},
	{"packed", func(s *site) *site {
		r := cloneHere(s, "repo")
		r.git("gc", "-q")
		return r
	}},
	{"pattern characters", func(s *site) *site { return cloneHere(s, "r[ep]o*? {é}") }},
	{"linked worktree", func(s *site) *site {
		r := cloneHere(s, "repo")
		r.git("worktree", "add", "-q", "../linked", "-b", "side")
		return s.at("linked")
	}},
	{"separate git dir", func(s *site) *site { return cloneHere(s, "repo", "--separate-git-dir", s.path("elsewhere")) }},
	{"sparse", func(s *site) *site {
		r := cloneHere(s, "repo", "--sparse")
		r.git("sparse-checkout", "set", "docs")
		return r
	}},
	{"partial", func(s *site) *site { return cloneHere(s, "repo", "--filter=blob:none") }},
	{"treeless", func(s *site) *site { return cloneHere(s, "repo", "--filter=tree:0") }},
	{"shallow", func(s *site) *site { return cloneHere(s, "repo", "--depth=1") }},
	{"shared", func(s *site) *site {
		s.git("clone", "-q", "--mirror", "../origin.git", "base.git")
		s.git("clone", "-q", "--shared", "base.git", "repo")
		r := s.at("repo")
		r.git("remote", "set-url", "origin", "file://"+s.path("../origin.git"))
		return r
	}},
	{"submodule", func(s *site) *site {
		s.git("init", "-q", "-b", "main", "super")
		r := s.at("super")
		r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "file://"+s.path("../origin.git"), "sub")
		r.git("commit", "-qm", "Add a submodule")
		return r.at("sub")
	}},
	{"GIT_DIR", func(s *site) *site {
		cloneHere(s, "repo")
		s.write("away/empty", "")
		return s.at("away").with("GIT_DIR="+s.path("repo/.git"), "GIT_WORK_TREE="+s.path("repo"))
	}},
	{"relative GIT_DIR", func(s *site) *site {
		cloneHere(s, "repo")
		return s.at("repo/docs").with("GIT_DIR=../.git")
	}},
	{"symbolic link", func(s *site) *site {
		cloneHere(s, "repo")
		if err := os.Symlink("repo", s.path("link")); err != nil {
			s.tb.Fatal(err)
		}
		return s.at("link")
	}},
}

func cloneHere(s *site, name string, options ...string) *site {
	s.tb.Helper()
	s.git(append(append([]string{"clone", "-q"}, options...), "file://"+s.path("../origin.git"), name)...)
	return s.at(name)
}

// layOut creates the remote, with one session, and the repository.
func (sh shape) layOut(tb testing.TB) (root, repo *site) {
	root = newSite(tb)
	root.git("init", "-q", "-b", "main", "../first")
	first := root.at("../first")
	first.write("docs/a.txt", "a\n")
	first.write("code/b.txt", "b\n")
	first.git("add", ".")
	first.git("commit", "-qm", "Begin")
	first.write("docs/a.txt", "a\nb\n")
	first.git("commit", "-qam", "Go on")
	root.git("clone", "-q", "--bare", "../first", "../origin.git")
	root.at("../origin.git").git("config", "uploadpack.allowFilter", "true")
	root.write("../theirs.md", document("theirs", 5))
	origin := root.at("../origin.git")
	origin.domarkx("import", root.path("../theirs.md"))
	origin.domarkx("append", "--new", "-m", "one more", "theirs")
	return root, sh.make(root)
}

// common returns the directory that all work trees of a repository share.
func (s *site) common() string {
	s.tb.Helper()
	return strings.TrimSuffix(s.git("rev-parse", "--path-format=absolute", "--git-common-dir"), "\n")
}

func TestShapes(t *testing.T) {
	for _, sh := range shapes {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			root, repo := sh.layOut(t)
			common := repo.common()
			inside := filepath.Dir(common) // include the parent directory, to detect changes beside the repository
			outside := newSite(t)
			outside.write("s.md", document("s", 20))
			before := takeCensus(t, inside)
			exercise(t, repo, outside)
			expectOnlyOurs(t, inside, common, before)
			repo.sound(sh.name)
			root.at("../origin.git").sound(sh.name, "remote")
		})
	}
}

// exercise runs every command that works on sessions. outside contains s.md.
func exercise(t *testing.T, repo, outside *site) {
	doc := outside.path("s.md")
	first := repo.domarkx("import", doc)
	if want := "s\t" + repo.tip("s") + "\t20\n"; first != want {
		t.Fatalf("import printed %q, expected %q", first, want)
	}
	if again := repo.domarkx("import", doc); again != first {
		t.Errorf("importing again printed %q, expected %q", again, first)
	}
	if shown := repo.domarkx("show", "s"); shown != outside.read("s.md") {
		t.Errorf("show gives other bytes than were imported: %.300q", shown)
	}
	repo.domarkx("append", "--new", "-m", "appended here", "s")
	repo.must("", "git-domarkx", "log", "s")
	if lines := strings.Count(repo.domarkx("log", "--messages", "s"), "\n"); lines != 21 {
		t.Errorf("log --messages printed %d lines, expected 21", lines)
	}
	if o := repo.try("", "git-domarkx", "diff", "s~1", "s"); o.code != 1 || !strings.Contains(o.out, "+appended here") {
		t.Errorf("%s", o)
	}
	repo.domarkx("fork", "s#3", "forks/f")
	repo.domarkx("rewind", "forks/f#1")
	repo.domarkx("rename", "forks/f", "forks/g")
	repo.domarkx("rm", "forks/g")
	repo.domarkx("restore", "forks/g")
	outside.write("changed.md", outside.read("s.md")+"\n## user\n\nedited here\n")
	repo.with("GIT_EDITOR=cp "+outside.path("changed.md")).domarkx("edit", "s")
	for _, args := range [][]string{
		{"list"}, {"list", "--json"}, {"status"}, {"export", "--format", "json", "s"}, {"show", "--format", "json", "s~1"},
		{"show", "s#2"}, {"log", "--json", "s"}, {"validate", doc}, {"fsck"}, {"gc"}, {"doctor"},
		{"push", "origin", "--all"}, {"fetch"},
	} {
		repo.domarkx(args...)
	}
	repo.domarkx("pull", "origin", "theirs")
	if shown := repo.domarkx("show", "theirs"); !strings.Contains(shown, "theirs, message 4") || !strings.Contains(shown, "one more") {
		t.Errorf("the pulled session reads %q", shown)
	}
	repo.domarkx("append", "--new", "-m", "and here", "theirs")
	repo.domarkx("push")
	repo.domarkx("rm", "theirs")
}

// TestShapesMount mounts every layout, reads and saves.
func TestShapesMount(t *testing.T) {
	t.Parallel()
	needFUSE(t)
	for _, sh := range shapes {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			_, repo := sh.layOut(t)
			outside := newSite(t)
			outside.write("s.md", document("s", 3))
			repo.domarkx("import", outside.path("s.md"))
			common := repo.common()
			inside := filepath.Dir(common)
			before := takeCensus(t, inside)
			m := mountAt(t, repo, outside.path("mnt"))
			if got := m.read("sessions/s.md"); got != outside.read("s.md") {
				t.Errorf("the mount shows %q", got)
			}
			saved := outside.read("s.md") + "\n## user\n\nsaved in the mount\n"
			m.save("sessions/s.md", saved)
			eventually(t, "the save is a snapshot", func() bool { return repo.domarkx("show", "s") == saved })
			m.end()
			expectOnlyOurs(t, inside, common, before)
			repo.sound(sh.name)
		})
	}
}

// TestShapesGitOptions runs the program as users do: git [OPTIONS] domarkx.
func TestShapesGitOptions(t *testing.T) {
	t.Parallel()
	root := newSite(t)
	root.git("init", "-q", "-b", "main", "repo")
	root.write("s.md", document("s", 2))
	if out := root.git("-C", "repo", "domarkx", "import", "../s.md"); !strings.HasPrefix(out, "s\t") {
		t.Errorf("git -C repo domarkx import printed %q", out)
	}
	root.git("--git-dir=repo/.git", "domarkx", "append", "--new", "-m", "by git-dir", "s")
	plain := root.with()
	plain.env = nil
	for _, v := range root.env {
		if !strings.HasPrefix(v, "GIT_COMMITTER_") && !strings.HasPrefix(v, "GIT_AUTHOR_") {
			plain.env = append(plain.env, v)
		}
	}
	plain.git("-C", "repo", "-c", "user.name=Bob", "-c", "user.email=bob@example.org", "domarkx", "append", "--new", "-m", "by Bob", "s")
	if got := root.git("-C", "repo", "log", "-1", "--format=%an %ae", "refs/domarkx/sessions/s"); got != "Bob bob@example.org\n" {
		t.Errorf("git -c user.name=Bob: the author is %q", got)
	}
	root.write("new.md", document("edited", 1))
	root.git("-C", "repo", "-c", "core.editor=cp "+root.path("new.md"), "domarkx", "edit", "s")
	if got := root.git("-C", "repo", "domarkx", "show", "s"); got != root.read("new.md") {
		t.Errorf("git -c core.editor=… edit: the session reads %q", got)
	}
	root.at("repo").sound()
	if got := root.at("repo").read(".git/config"); strings.Contains(got, "Bob") {
		t.Errorf("git -c went into the config: %q", got)
	}
}

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
			part.sound(test.name)
			origin.sound(test.name, "remote")
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
