package integration_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// theirs is the remote of all layouts, which the first test that needs it makes.
var theirs struct {
	once sync.Once
	dir  string
}

// makeTheirs makes a bare repository with a branch and a session, beside the program under test.
func makeTheirs(tb testing.TB) {
	s := newSite(tb).at(program(tb))
	s.git("init", "-q", "-b", "main", "first")
	first := s.at("first")
	first.write("docs/a.txt", "a\n")
	first.write("code/b.txt", "b\n")
	first.git("add", ".")
	first.git("commit", "-qm", "Begin")
	first.write("docs/a.txt", "a\nb\n")
	first.git("commit", "-qam", "Go on")
	s.git("clone", "-q", "--bare", "first", "theirs.git")
	origin := s.at("theirs.git")
	origin.git("config", "uploadpack.allowFilter", "true")
	s.write("theirs.md", document("theirs", 5))
	origin.domarkx("import", s.path("theirs.md"))
	origin.domarkx("append", "--new", "-m", "one more", "theirs")
	theirs.dir = origin.dir
}

// layOut creates the remote, with one session, and the repository.
func (sh shape) layOut(tb testing.TB) (root, repo *site) {
	theirs.once.Do(func() { makeTheirs(tb) })
	root = newSite(tb)
	if err := os.CopyFS(root.path("../origin.git"), os.DirFS(theirs.dir)); err != nil {
		tb.Fatal(err)
	}
	return root, sh.make(root)
}

// common returns the directory that all work trees of a repository share.
func (s *site) common() string {
	s.tb.Helper()
	return strings.TrimSuffix(s.git("rev-parse", "--path-format=absolute", "--git-common-dir"), "\n")
}

// TestShapes imports, changes, pulls and pushes sessions in every layout. Every other command that works on sessions runs in some of
// them. Then the layout is mounted.
func TestShapes(t *testing.T) {
	for n, sh := range shapes {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			root, repo := sh.layOut(t)
			common := repo.common()
			inside := filepath.Dir(common) // include the parent directory, to detect changes beside the repository
			outside := newSite(t)
			outside.write("s.md", document("s", 20))
			before := takeCensus(t, inside)
			exercise(t, n, repo, outside)
			t.Run("mount", func(t *testing.T) { mountShape(t, repo.under(t), outside) })
			expectOnlyOurs(t, inside, common, before)
			repo.intact(sh.name)
			root.at("../origin.git").intact(sh.name, "remote")
		})
	}
}

// spread are commands that read, or for which the layout matters little. Two of them run in each layout.
func spread(repo *site, doc string) []func() {
	domarkx := func(args ...string) func() { return func() { repo.domarkx(args...) } }
	return []func(){
		domarkx("list", "--json"), domarkx("export", "--format", "json", "s"), domarkx("show", "--format", "json", "s~1"), domarkx("restore", "forks/f"),
		func() {
			if o := repo.try("", "git-domarkx", "diff", "s~1", "s"); o.code != 1 || !strings.Contains(o.out, "+edited here") {
				repo.tb.Errorf("%s", o)
			}
		}, domarkx("log", "--json", "s"), domarkx("show", "s#2"), domarkx("status"),
		domarkx("validate", doc), domarkx("fsck"), domarkx("doctor"), domarkx("rewind", "s#1"),
		domarkx("log", "s"), domarkx("push"), func() {
			if lines := strings.Count(repo.domarkx("log", "--messages", "s"), "\n"); lines != 21 {
				repo.tb.Errorf("log --messages printed %d lines, expected 21", lines)
			}
		}, domarkx("fetch"),
	}
}

// exercise runs commands in the n-th layout. outside contains s.md.
func exercise(t *testing.T, n int, repo, outside *site) {
	doc := outside.path("s.md")
	first := repo.domarkx("import", doc)
	if want := "s\t" + repo.tip("s") + "\t20\n"; first != want {
		t.Fatalf("import printed %q, expected %q", first, want)
	}
	if shown := repo.shown("s")[0]; shown != outside.read("s.md") {
		t.Errorf("show gives other bytes than were imported: %.300q", shown)
	}
	switch n % 4 {
	case 0, 2:
		outside.write("changed.md", outside.read("s.md")+"\n## user\n\nedited here\n")
		repo.with("GIT_EDITOR=cp "+outside.path("changed.md")).domarkx("edit", "s")
	case 1:
		repo.domarkx("fork", "s#3", "forks/f")
		repo.domarkx("rename", "forks/f", "forks/g")
	case 3:
		repo.domarkx("fork", "s#3", "forks/f")
		repo.domarkx("rm", "forks/f")
	}
	repo.domarkx("gc")
	repo.domarkx("pull", "origin", "theirs")
	repo.domarkx("append", "--new", "-m", "and here", "theirs")
	repo.domarkx("push", "origin", "--all")
	if shown := repo.domarkx("show", "theirs"); !strings.Contains(shown, "theirs, message 4") || !strings.Contains(shown, "one more") || !strings.Contains(shown, "and here") {
		t.Errorf("the pulled session reads %q", shown)
	}
	reads := spread(repo, doc)
	for k := n % 8; k < len(reads); k += 8 {
		reads[k]()
	}
}

// mountShape mounts a layout, reads and saves.
func mountShape(t *testing.T, repo, outside *site) {
	needFUSE(t)
	m := mountAt(t, repo, outside.path("mnt"))
	was := repo.shown("s")[0]
	if got := m.read("sessions/s.md"); got != was {
		t.Errorf("the mount shows %q, expected %q", got, was)
	}
	saved := was + "\n## user\n\nsaved in the mount\n"
	m.save("sessions/s.md", saved)
	eventually(t, "the save is a snapshot", func() bool { return repo.shown("s")[0] == saved })
	m.end()
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
