package integration_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
)

// TestScript runs the scripts in testdata/script. Each starts in an empty directory,
// $WORK, which contains the files at the script's end. Besides the commands of testscript
// and those of this file, scripts can use git, which means "exec git".
func TestScript(t *testing.T) {
	t.Parallel()
	bin := program(t)
	linkMCPServer(t, bin)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Deadline:            time.Now().Add(maxScripts),
		RequireUniqueNames:  true,
		Condition:           scriptCondition,
		Setup: func(env *testscript.Env) error {
			for _, dir := range []string{".home", ".run"} {
				if err := os.Mkdir(filepath.Join(env.WorkDir, dir), 0o700); err != nil {
					return err
				}
			}
			examples, err := filepath.Abs("../plugins/external/example")
			if err != nil {
				return err
			}
			env.Values[providersKey{}] = map[string]*providertest.Server{}
			env.Vars = append(env.Vars, "EXAMPLES="+examples,
				"PATH="+bin+":"+os.Getenv("PATH"),
				"HOME="+filepath.Join(env.WorkDir, ".home"), "XDG_RUNTIME_DIR="+filepath.Join(env.WorkDir, ".run"),
				"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
				"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
				"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
				"GIT_CEILING_DIRECTORIES="+env.WorkDir,
				"LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb", "SOAK="+os.Getenv("SOAK"))
			env.Vars = append(env.Vars, formats()...)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"git":      scriptGit,
			"exits":    scriptExits,
			"sh":       scriptShell,
			"let":      scriptLet,
			"eventual": scriptEventual,
			"until":    scriptUntil,
			"ago":      scriptAgo,
			"bytes":    scriptBytes,
			"provider": scriptProvider,
			"sound":    scriptSound,
			"census":   scriptCensus,
			"mounted":  scriptMounted,
			"json":     scriptJSON,
			"jsonsame": scriptJSONSame,
			"field":    scriptField,
			"lines":    scriptLines,
		},
	})
}

// maxScripts is the timeout for all scripts together. It leaves time for a machine that
// is busy with other tests; each program in a script has a timeout of its own.
const maxScripts = 35 * time.Minute

// scriptCondition evaluates has:PROGRAM and has:fuse, and files, which is true unless git makes repositories with the reftable
// backend. With CI=true, a missing program is an error.
func scriptCondition(cond string) (bool, error) {
	if cond == "files" {
		return os.Getenv("GIT_DEFAULT_REF_FORMAT") != "reftable", nil
	}
	name, ok := strings.CutPrefix(cond, "has:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	var err error
	switch name {
	case "fuse":
		var file *os.File
		if file, err = os.OpenFile("/dev/fuse", os.O_RDWR, 0); err == nil {
			file.Close()
			_, err = exec.LookPath("fusermount3")
		}
	default:
		_, err = exec.LookPath(name)
	}
	if err != nil && os.Getenv("CI") == "true" {
		return false, fmt.Errorf("%s cannot be tested here, .ci/install-test-tools installs it: %w", name, err)
	}
	return err == nil, nil
}

// timedOut is the exit status of timeout(1), which some scripts run, for a program that it ended.
const timedOut = 124

// outcomeOf checks that a program succeeded. If negated, it checks that the program
// exited by itself with a status other than 0.
func outcomeOf(ts *testscript.TestScript, neg bool, err error) {
	var exit *exec.ExitError
	switch {
	case err == nil && neg:
		ts.Fatalf("unexpected success")
	case err != nil && !neg:
		ts.Fatalf("unexpected failure: %v", err)
	case err != nil && (!errors.As(err, &exit) || exit.ExitCode() == timedOut || exit.ExitCode() > 128+15 || exit.ExitCode() < 0):
		ts.Fatalf("did not end by itself: %v", err)
	}
}

// scriptGit implements "[!] git ARG...", which runs git.
func scriptGit(ts *testscript.TestScript, neg bool, args []string) {
	outcomeOf(ts, neg, run(ts, "git", args...))
}

// scriptShell implements "[!] sh SCRIPT [ARG...]", which runs a shell script. The script
// stops at the first error; $1 is the first ARG.
func scriptShell(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: sh SCRIPT [ARG...]")
	}
	outcomeOf(ts, neg, shell(ts, args))
}

// scriptExits implements "exits STATUS PROGRAM [ARG...]", which expects this exit
// status.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = run(ts, args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, expected %d", got, want)
	}
}

// scriptLet implements "let NAME PROGRAM [ARG...]", which stores a program's output in a
// variable, without the final line end.
func scriptLet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: let NAME PROGRAM [ARG...]")
	}
	outcomeOf(ts, false, run(ts, args[1], args[2:]...))
	ts.Setenv(args[0], strings.TrimSuffix(ts.ReadFile("stdout"), "\n"))
}

// scriptEventual implements "eventual SCRIPT [ARG...]", which repeats a shell script
// until it succeeds, to wait for other processes that send no notification.
func scriptEventual(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: eventual SCRIPT [ARG...]")
	}
	deadline := time.Now().Add(2 * time.Minute)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		start := time.Now()
		err := shell(ts, args)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("not so within 2 minutes: %v", err)
		}
		time.Sleep(max(wait, min(2*time.Since(start), time.Second))) // what is waited for needs the processor more
	}
}

// scriptBytes implements "bytes FILE TEXT...", which writes texts with the escapes of Go
// (\r, \x00, \u2028).
func scriptBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: bytes FILE TEXT...")
	}
	var b strings.Builder
	for _, text := range args[1:] {
		plain, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
		ts.Check(err)
		b.WriteString(plain)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o666))
}

// scriptSound implements "sound", which expects that git fsck and git domarkx fsck find
// no error, and that gitstore/SPEC.md lists all that is in the state directory.
func scriptSound(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: sound")
	}
	if err := run(ts, "git", "fsck", "--strict", "--no-dangling", "--no-progress"); err != nil {
		ts.Fatalf("git fsck: %v", err)
	}
	for line := range strings.Lines(ts.ReadFile("stdout") + ts.ReadFile("stderr")) {
		if !strings.HasPrefix(line, "notice: HEAD points to an unborn branch") {
			ts.Fatalf("git fsck says %s", line)
		}
	}
	if err := run(ts, "git", "domarkx", "fsck"); err != nil {
		ts.Fatalf("git domarkx fsck: %v", err)
	}
	if strings.Contains("\n"+ts.ReadFile("stdout"), "\nerror") {
		ts.Fatalf("git domarkx fsck has found errors")
	}
	state := ts.MkAbs(".git/domarkx")
	if d, err := os.Stat(ts.MkAbs(".git")); err != nil || !d.IsDir() {
		if err := run(ts, "git", "rev-parse", "--path-format=absolute", "--git-common-dir"); err != nil {
			ts.Fatalf("git rev-parse: %v", err)
		}
		state = filepath.Join(strings.TrimSpace(ts.ReadFile("stdout")), "domarkx")
	}
	ts.Check(filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
		switch name, _ := filepath.Rel(state, path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !d.IsDir() && !slices.ContainsFunc(stateEntries(), func(e string) bool { return inEntry(filepath.ToSlash(name), e) }):
			ts.Fatalf("%s is not in the tables of gitstore/SPEC.md, section 10", name)
		}
		return nil
	}))
}

// stateEntries returns the first column of the tables of section 10 in gitstore/SPEC.md: patterns of paths in the state
// directory, one with a slash at the end stands for all below it.
var stateEntries = sync.OnceValue(func() (entries []string) {
	spec, err := os.ReadFile("../gitstore/SPEC.md")
	if err != nil {
		panic(err)
	}
	_, section, _ := strings.Cut(string(spec), "\n## 10. ")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(section, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			entries = append(entries, name[1])
		}
	}
	return entries
})

// inEntry reports whether a path is that of an entry of the state directory.
func inEntry(name, entry string) bool {
	parts := strings.Split(name, "/")
	if all, ok := strings.CutSuffix(entry, "/"); ok {
		if n := strings.Count(all, "/") + 1; len(parts) > n {
			parts, entry = parts[:n], all
		}
	}
	ok, err := path.Match(entry, strings.Join(parts, "/"))
	return err == nil && ok
}

// scriptMounted implements "mounted DIR", which mounts the repository's sessions until
// the end of the script.
func scriptMounted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mounted DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Defer(func() {
		exec.Command("fusermount3", "-uqz", dir).Run()
	})
	outcomeOf(ts, false, run(ts, "git", "domarkx", "mount", args[0]))
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
		ts.Fatalf("the mount cannot be used: %v", err)
	}
}

// testingT lets the helpers of other tests fail a script.
type testingT struct {
	testing.TB
	ts *testscript.TestScript
}

func (t testingT) Helper()                           {}
func (t testingT) Errorf(format string, args ...any) { t.ts.Fatalf(format, args...) }
func (t testingT) Fatalf(format string, args ...any) { t.ts.Fatalf(format, args...) }
func (t testingT) Fatal(args ...any)                 { t.ts.Fatalf("%s", fmt.Sprint(args...)) }

// scriptCensus implements "census". "census take DIR [GITDIR]" records the state below
// DIR. After that, "census ours DIR [GITDIR]" expects that only files changed that the
// program may change, and "census same DIR" expects no change.
func scriptCensus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: census take|ours|same DIR [GITDIR]")
	}
	tb, dir := testingT{ts: ts}, ts.MkAbs(args[1])
	file := filepath.Join(ts.Getenv("WORK"), ".census-"+strings.ReplaceAll(args[1], "/", "-"))
	if args[0] == "take" {
		ts.Check(os.WriteFile(file, []byte(takeCensus(tb, dir).encode()), 0o666))
		return
	}
	data, err := os.ReadFile(file)
	ts.Check(err)
	before := decodeCensus(string(data))
	switch args[0] {
	case "same":
		if changed := before.changes(takeCensus(tb, dir)); len(changed) > 0 {
			ts.Fatalf("these were touched: %q", changed)
		}
	case "ours":
		common := filepath.Join(dir, ".git")
		if len(args) > 2 {
			common = ts.MkAbs(args[2])
		}
		expectOnlyOurs(tb, dir, common, before)
	default:
		ts.Fatalf("unknown: census %s", args[0])
	}
}

func (c census) encode() string {
	var b strings.Builder
	for name, what := range c {
		fmt.Fprintf(&b, "%q %q\n", name, what)
	}
	return b.String()
}

func decodeCensus(s string) census {
	c := census{}
	for line := range strings.Lines(s) {
		var name, what string
		if _, err := fmt.Sscanf(line, "%q %q", &name, &what); err == nil {
			c[name] = what
		}
	}
	return c
}
