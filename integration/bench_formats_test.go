package integration_test

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkFormats compares repositories with SHA-256 and with the reftable backend with those of today, under one Git.
func BenchmarkFormats(b *testing.B) {
	s := newSite(b)
	if root, err := filepath.Abs("../bin/git-sid/root/usr"); err == nil {
		// Its bin/git is a script that sets these variables, and starts a shell for each git.
		core := b.TempDir()
		s.must("", "cp", "-rsT", filepath.Join(root, "lib/git-core"), core)
		s.must("", "ln", "-sf", filepath.Join(root, "bin/git"), core)
		b.Setenv("PATH", core+":"+os.Getenv("PATH")) // commands of a site are looked up there
		s = s.with("PATH="+program(b)+":"+os.Getenv("PATH"), "GIT_EXEC_PATH="+core,
			"GIT_TEMPLATE_DIR="+filepath.Join(root, "share/git-core/templates"))
	}
	if s.try("", "git", "init", "-q", "--ref-format=reftable", "probe").code != 0 {
		b.Skip("NOT MEASURED: the reftable backend needs Git 2.45; .ci/install-git bin/git-sid downloads one")
	}
	formats := [][2]string{{"sha1", "files"}, {"sha256", "files"}, {"sha1", "reftable"}, {"sha256", "reftable"}}
	var shows, lists, appends []func()
	for _, f := range formats {
		name := f[0] + "-" + f[1]
		s.git("init", "-q", "--object-format="+f[0], "--ref-format="+f[1], name)
		r := s.at(name)
		for _, session := range []string{"s", "t"} {
			r.write(session+".md", document(session, 1000))
			r.domarkx("import", session+".md")
		}
		shows = append(shows, func() { r.domarkx("show", "s#3") })
		lists = append(lists, func() { r.domarkx("list") })
		appends = append(appends, func() { r.domarkx("append", "--new", "-m", "one short message", "s") })
	}
	for what, runs := range map[string][]func(){"show of a message": shows, "list": lists, "append": appends} {
		times := race(25, runs...)
		score(b, what+" with SHA-256: time, against SHA-1", ratio(times[1], times[0]), 1.3, "x")
		score(b, what+" with reftable: time, more than with files", milliseconds(times[2]-times[0]), 10, "ms")
		score(b, what+" with SHA-256 and reftable: time, more than with neither", milliseconds(times[3]-times[0]), 10, "ms")
		score(b, what+" with SHA-1 and files: time", milliseconds(times[0]), 0, "ms")
	}
}
