// Package gittest creates repositories for tests, independent of the machine's Git
// configuration.
package gittest

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Env returns an environment for git with a fixed author and date and without any
// configuration. additions are appended.
func Env(additions ...string) []string {
	var env []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "GIT_") && !strings.HasPrefix(entry, "EMAIL=") {
			env = append(env, entry)
		}
	}
	env = append(env,
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Ada Author", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=1700000000 +0100",
		"GIT_COMMITTER_NAME=Carl Committer", "GIT_COMMITTER_EMAIL=carl@example.com", "GIT_COMMITTER_DATE=1700000001 +0100",
	)
	return append(env, additions...)
}

// Create creates an empty repository as git init does, but without a process and without examples
// of hooks: most tests begin with it. dir is the Git directory.
func Create(t testing.TB, dir, branch string, bare bool) {
	t.Helper()
	for _, name := range []string{"hooks", "info", "objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = " + strconv.FormatBool(bare) + "\n"
	if !bare {
		config += "\tlogallrefupdates = true\n"
	}
	for name, content := range map[string]string{"HEAD": "ref: refs/heads/" + branch + "\n", "config": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Init creates an empty repository in a directory of its own, with options of git init.
func Init(t testing.TB, options ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "repository")
	switch strings.Join(options, " ") {
	case "":
		Create(t, filepath.Join(dir, ".git"), "main", false)
		return dir
	case "--bare":
		Create(t, dir, "main", true)
		return dir
	}
	Run(t, "", append(append([]string{"init", "-q", "-b", "main"}, options...), dir)...)
	return dir
}

// Run runs git in a directory and returns its stdout without the final newline.
func Run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, stderr, err := run(dir, "", args...)
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, stderr)
	}
	return out
}

// Try runs git and returns its error.
func Try(dir string, args ...string) error {
	_, _, err := run(dir, "", args...)
	return err
}

// Commits creates n commits of the empty tree and returns their ids. They have no parents, and
// no references point to them, but git gc keeps them.
func Commits(t testing.TB, dir string, n int) []string {
	t.Helper()
	var script strings.Builder
	for i := range n {
		script.WriteString("commit refs/heads/fixture\nmark :" + strconv.Itoa(i+1) + "\ncommitter Carl <carl@example.com> " + strconv.Itoa(1_600_000_000+i) + " +0000\ndata 0\n\nreset refs/heads/fixture\n\n")
	}
	marks := filepath.Join(t.TempDir(), "marks")
	if _, stderr, err := run(dir, script.String(), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--force", "--export-marks="+marks); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, stderr)
	}
	keep(t, Run(t, dir, "rev-parse", "--path-format=absolute", "--git-path", "objects/pack"))
	Run(t, dir, "update-ref", "-d", "refs/heads/fixture")
	data, err := os.ReadFile(marks)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, n)
	for line := range strings.Lines(string(data)) {
		mark, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(mark[1:])
		if err != nil {
			t.Fatal(err)
		}
		ids[n-1] = id
	}
	return ids
}

// keep adds .keep files to the packs of a directory, so that git gc leaves them alone.
func keep(t testing.TB, directory string) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(directory, "*.pack"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pack := range packs {
		if err := os.WriteFile(strings.TrimSuffix(pack, "pack")+"keep", nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func run(dir, stdin string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = Env()
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return strings.TrimSuffix(out.String(), "\n"), errs.String(), err
}

// Rounds returns how many rounds a random test has: few, or all if SOAK is set.
func Rounds(few, all int) int {
	if os.Getenv("SOAK") != "" {
		return all
	}
	return few
}

// Checks sets how many examples rapid.Check tries in a test, since each of these costs processes. It changes nothing if SOAK is set.
func Checks(t testing.TB, n int) {
	t.Helper()
	if os.Getenv("SOAK") != "" {
		return
	}
	checks := flag.Lookup("rapid.checks").Value
	was := checks.String()
	t.Cleanup(func() { _ = checks.Set(was) })
	if err := checks.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
}

// Path returns the path of git.
func Path(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	return path
}
