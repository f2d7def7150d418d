package integration_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// underTest is the program, which the first test that needs it builds.
var underTest struct {
	once sync.Once
	dir  string
	err  error
}

// program returns the directory that contains git-domarkx.
func program(tb testing.TB) string {
	tb.Helper()
	underTest.once.Do(func() {
		if underTest.dir, underTest.err = os.MkdirTemp("", "git-domarkx-test-"); underTest.err != nil {
			return
		}
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w",
			"-o", filepath.Join(underTest.dir, "git-domarkx"), module+"/git-domarkx")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			underTest.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if underTest.err != nil {
		tb.Fatalf("building the program under test: %v", underTest.err)
	}
	return underTest.dir
}

func TestMain(m *testing.M) {
	if report := os.Getenv(measureVariable); report != "" {
		os.Exit(measure(report))
	}
	if filepath.Base(os.Args[0]) == mcpServerName {
		if err := serveMCP(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // half of the time, a test waits
	}
	code := m.Run()
	printScores()
	if underTest.dir != "" {
		os.RemoveAll(underTest.dir)
	}
	os.Exit(code)
}

// missing skips a test that cannot run on this machine. With CI=true it fails the test
// instead.
func missing(tb testing.TB, format string, args ...any) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatalf("cannot be tested here: "+format, args...)
	}
	tb.Skipf("NOT TESTED: "+format, args...)
}

func needProgram(tb testing.TB, names ...string) {
	tb.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			missing(tb, "%s is not installed; .ci/install-test-tools installs it", name)
		}
	}
}

func needRoot(tb testing.TB, why string) {
	tb.Helper()
	if os.Geteuid() != 0 {
		missing(tb, "%s needs root", why)
	}
}

func needFUSE(tb testing.TB) {
	tb.Helper()
	if file, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		missing(tb, "mounting: %v", err)
	} else {
		file.Close()
	}
	needProgram(tb, "fusermount3")
}

// A site is a directory in which tests run programs, with an environment that contains no
// settings of the user who runs the tests.
type site struct {
	tb  testing.TB
	dir string
	env []string
}

// newSite returns a site in an empty directory.
func newSite(tb testing.TB) *site {
	tb.Helper()
	bin, root := program(tb), tb.TempDir()
	s := &site{tb: tb, dir: filepath.Join(root, "here")}
	for _, dir := range []string{"here", "home", "run"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	s.env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(root, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(root, "run"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
		"LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb",
	}
	s.env = append(s.env, formats()...)
	return s
}

// formats returns the variables that say in which formats git makes repositories (git(1)). The suite runs in those that it
// is started with.
func formats() []string {
	var set []string
	for _, name := range []string{"GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT"} {
		if value := os.Getenv(name); value != "" {
			set = append(set, name+"="+value)
		}
	}
	return set
}

// newRepository returns a site in an empty repository.
func newRepository(tb testing.TB) *site {
	tb.Helper()
	s := newSite(tb)
	s.git("init", "-q", "-b", "main")
	return s
}

// at returns a copy of the site in another directory, relative to this one.
func (s *site) at(dir string) *site {
	there := *s
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.dir, dir)
	}
	there.dir = dir
	return &there
}

// with returns a copy of the site with additional environment variables.
func (s *site) with(env ...string) *site {
	other := *s
	other.env = append(append([]string{}, s.env...), env...)
	return &other
}

// under returns a copy of the site for another test.
func (s *site) under(tb testing.TB) *site {
	other := *s
	other.tb = tb
	return &other
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

// command prepares a program to run in this site.
func (s *site) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if name == "git-domarkx" {
		name = filepath.Join(program(s.tb), name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// An outcome is the output and exit status of a program.
type outcome struct {
	out, err string
	code     int
	line     string // the command line, for error messages
}

func (o outcome) String() string {
	return fmt.Sprintf("%s: exit %d\nstdout: %.2000s\nstderr: %.2000s", o.line, o.code, o.out, o.err)
}

// maxRun is the timeout for a program that a test runs.
const maxRun = 3 * time.Minute

// try runs a program. Any exit status is acceptable.
func (s *site) try(stdin, name string, args ...string) outcome {
	s.tb.Helper()
	longest := maxRun
	if soaking() { // inputs are ten times larger when soaking
		longest *= 10
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	cmd := s.command(ctx, name, args...)
	var out, err bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &err
	cmd.WaitDelay = 10 * time.Second // a daemon may keep the pipes open
	failed := cmd.Run()
	o := outcome{out: out.String(), err: err.String(), code: cmd.ProcessState.ExitCode(), line: name + " " + strings.Join(args, " ")}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		s.tb.Errorf("%s did not end within %s\nstderr: %s", o.line, longest, o.err)
	case failed != nil && !errors.As(failed, &exit):
		s.tb.Errorf("%s: %v", o.line, failed)
	}
	return o
}

// must runs a program that has to succeed, and returns its standard output.
func (s *site) must(stdin, name string, args ...string) string {
	s.tb.Helper()
	o := s.try(stdin, name, args...)
	if o.code != 0 {
		s.tb.Fatalf("%s", o)
	}
	return o.out
}

func (s *site) git(args ...string) string {
	s.tb.Helper()
	return s.must("", "git", args...)
}

func (s *site) domarkx(args ...string) string {
	s.tb.Helper()
	return s.must("", "git-domarkx", args...)
}

// pull pulls all sessions and accepts conflicts.
func (s *site) pull(remote string) {
	s.tb.Helper()
	o := s.try("", "git-domarkx", "pull", remote)
	isConflict := o.code == 1 && strings.Contains(o.out, "\tconflict\n") && !strings.Contains(o.out, "\trejected")
	if o.code != 0 && !isConflict {
		s.tb.Fatalf("%s", o)
	}
}

func (s *site) write(name, content string) {
	s.tb.Helper()
	path := name
	if !filepath.IsAbs(path) {
		path = s.path(name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		s.tb.Fatal(err)
	}
}

func (s *site) read(name string) string {
	s.tb.Helper()
	path := name
	if !filepath.IsAbs(path) {
		path = s.path(name)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		s.tb.Fatal(err)
	}
	return string(data)
}

// tip returns a session's newest snapshot, or "" if the session does not exist.
func (s *site) tip(session string) string {
	s.tb.Helper()
	return strings.TrimSpace(s.try("", "git", "rev-parse", "-q", "--verify", "refs/domarkx/sessions/"+session).out)
}

// sound fails the test if git fsck or git domarkx fsck finds an error.
func (s *site) sound(context ...any) {
	s.tb.Helper()
	o := s.try("", "git", "fsck", "--strict", "--no-dangling", "--no-progress")
	for line := range strings.Lines(o.out + o.err) {
		if o.code != 0 || !strings.HasPrefix(line, "notice: ") { // such as the notice about a branch without commits
			s.tb.Fatalf("%v: %s", context, o)
		}
	}
	if o := s.try("", "git-domarkx", "fsck"); o.code != 0 || strings.Contains(o.out, "error\t") {
		s.tb.Fatalf("%v: %s", context, o)
	}
}

// eventually waits until a condition holds. It polls, because the condition depends on
// other processes that send no notification.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for wait := time.Millisecond; !holds(); wait = min(2*wait, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("this did not come about within 30 s: %s", what)
		}
		time.Sleep(wait)
	}
}

// document returns a Markdown session with this many messages, each of one paragraph.
func document(title string, messages int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: %s\n---\n", title)
	for i := range messages {
		role := [2]string{"user", "assistant"}[i%2]
		fmt.Fprintf(&b, "\n## %s\n\n%s, message %d: the quick brown fox jumps over the lazy dog.\n", role, title, i)
	}
	return b.String()
}
