package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A call is one system call in a trace. Its start and end are line numbers of the trace.
type call struct {
	name, args string
	began      int
	ended      int     // 0 if it never ended
	at         float64 // start time in seconds since 1970
	failed     bool
}

// tracedCalls are the system calls that the tests trace.
const tracedCalls = "openat,creat,write,writev,pwrite64,fsync,fdatasync,syncfs,sync_file_range,rename,renameat,renameat2,link,linkat,unlink,unlinkat"

var (
	traceLine    = regexp.MustCompile(`^(\d+)\s+(\d+\.\d+) (.*)$`)
	traceWhole   = regexp.MustCompile(`^(\w+)\((.*)\)\s+= (.*)$`)
	traceBegin   = regexp.MustCompile(`^(\w+)\((.*) <unfinished \.\.\.>$`)
	traceResumed = regexp.MustCompile(`^<\.\.\. (\w+) resumed>(.*)\)\s+= (.*)$`)
)

func parseTrace(tb testing.TB, path string) []call {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var calls []call
	open := map[string]int{} // unfinished calls by thread
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		parts := traceLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if parts == nil {
			continue
		}
		at, _ := strconv.ParseFloat(parts[2], 64)
		if m := traceWhole.FindStringSubmatch(parts[3]); m != nil && !strings.HasPrefix(parts[3], "<...") {
			calls = append(calls, call{m[1], m[2], number, number, at, strings.HasPrefix(m[3], "-1")})
		} else if m := traceBegin.FindStringSubmatch(parts[3]); m != nil {
			open[parts[1]] = len(calls)
			calls = append(calls, call{name: m[1], args: m[2], began: number, at: at})
		} else if m := traceResumed.FindStringSubmatch(parts[3]); m != nil {
			if i, ok := open[parts[1]]; ok {
				calls[i].args += m[2]
				calls[i].ended, calls[i].failed = number, strings.HasPrefix(m[3], "-1")
				delete(open, parts[1])
			}
		}
	}
	if len(calls) == 0 {
		tb.Fatalf("the trace is empty: %.500s", data)
	}
	return calls
}

var (
	quoted     = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	descriptor = regexp.MustCompile(`^-?\w+<([^>]*)>`)
)

// paths returns the old and new paths of a rename or link.
func (c call) paths(dir string) (from, to string) {
	names := quoted.FindAllStringSubmatch(c.args, -1)
	if len(names) < 2 {
		return "", ""
	}
	var full [2]string
	bases := regexp.MustCompile(`(?:^|, )(?:AT_FDCWD|\d+)<([^>]*)>, "`).FindAllStringSubmatch(c.args, -1)
	for i := range full {
		full[i] = names[i][1]
		base := dir
		if i < len(bases) {
			base = bases[i][1]
		}
		if !filepath.IsAbs(full[i]) {
			full[i] = filepath.Join(base, full[i])
		}
		full[i] = filepath.Clean(full[i])
	}
	return full[0], full[1]
}

// file returns the path of the file descriptor in the first argument.
func (c call) file() string {
	if m := descriptor.FindStringSubmatch(c.args); m != nil {
		return strings.TrimSuffix(m[1], " (deleted)")
	}
	return ""
}

// isOf reports whether a call works on the file with this path. An unnamed file is
// identified by its descriptor: when the file is linked, the trace shows only that.
func (c call) isOf(path string) bool {
	if number, ok := strings.CutPrefix(path, "/proc/self/fd/"); ok {
		return strings.HasPrefix(c.args, number+"<") && strings.HasPrefix(filepath.Base(c.file()), "#")
	}
	return c.file() == path
}

func (c call) moves() bool {
	return strings.HasPrefix(c.name, "rename") || strings.HasPrefix(c.name, "link")
}
func (c call) syncs() bool {
	return (c.name == "fsync" || c.name == "fdatasync" || c.name == "sync_file_range") && !c.failed
}

var objectName = regexp.MustCompile(`/objects/(?:[0-9a-f]{2}/[0-9a-f]{38,62}|pack/pack-[0-9a-f]{40,64}\.(?:pack|idx))$`)

// TestFaultSyncOrder checks the order of the system calls of commands. Every object must
// be on the disk before a reference moves, and every reference before the command prints
// anything.
func TestFaultSyncOrder(t *testing.T) {
	t.Parallel()
	needProgram(t, "strace")
	for _, disk := range []string{"disk", "memory"} {
		t.Run(disk, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			if disk == "memory" { // without a journal that would order related writes
				dir, err := os.MkdirTemp("/dev/shm", "git-domarkx-test-")
				if err != nil {
					missing(t, "a file system in memory: %v", err)
				}
				t.Cleanup(func() { os.RemoveAll(dir) })
				r = r.at(dir)
				r.git("init", "-q", "-b", "main")
			}
			r.write("s.md", document("s", 4))
			for d := range 20 {
				r.write(fmt.Sprintf("many/d%d.md", d), document(fmt.Sprintf("d%d", d), 10))
			}
			r.write("big.md", document("big", 400))
			r.write("new.md", document("new", 6))
			r = r.with("GIT_EDITOR=cp " + r.path("new.md"))
			for _, args := range [][]string{
				{"import", "s.md"}, {"append", "--new", "-m", "text", "s"}, {"append", "--new", "-m", "text", "new"}, {"import", "many"}, {"import", "big.md"},
				{"edit", "s"}, {"fork", "s#1", "f"}, {"rewind", "s#2"}, {"rename", "s", "t"}, {"rm", "t"}, {"restore", "t"},
			} {
				trace, out := filepath.Join(t.TempDir(), "trace"), filepath.Join(t.TempDir(), "out")
				words := []string{"-f", "--seccomp-bpf", "-y", "-ttt", "-s", "300", "-o", trace, "-e", "trace=" + tracedCalls,
					"sh", "-c", `exec "$0" "$@" >` + out, filepath.Join(program(t), "git-domarkx")}
				if o := r.try("", "strace", append(words, args...)...); o.code != 0 {
					t.Fatalf("%q: %s", args, o)
				}
				checkOrder(t, args, parseTrace(t, trace), r.path(".git"), out, disk == "disk")
			}
		})
	}
}

// isRef reports whether a file of a repository has references, in the files or the reftable backend.
func isRef(gitDir, path string) bool {
	return strings.HasPrefix(path, filepath.Join(gitDir, "refs")+"/") || strings.HasPrefix(path, filepath.Join(gitDir, "reftable")+"/")
}

// checkOrder checks the calls of one command. On a file system with a journal, one sync
// of a directory makes the names in all directories durable.
func checkOrder(t *testing.T, args []string, calls []call, gitDir, out string, journal bool) {
	t.Helper()
	printed := slices.IndexFunc(calls, func(c call) bool { return strings.HasPrefix(c.name, "write") && c.file() == out })
	if printed < 0 {
		t.Fatalf("%q: no write to %s in the trace", args, out)
	}
	acknowledged := calls[printed].began
	firstRef := acknowledged
	synced := func(from, until int, paths ...string) bool {
		return slices.ContainsFunc(calls, func(c call) bool {
			if c.began < from || c.ended == 0 || c.ended > until || c.failed {
				return false
			}
			return c.name == "syncfs" || c.syncs() && slices.ContainsFunc(paths, c.isOf)
		})
	}
	refs := 0
	for _, c := range calls {
		if from, to := c.paths(gitDir); c.moves() && !c.failed && isRef(gitDir, to) {
			refs++
			firstRef = min(firstRef, c.began)
			// A table without content would hide all references of a repository.
			isTable := strings.Contains(to, "/reftable/")
			if !synced(0, c.began, from, to) && (isTable || !synced(c.ended, acknowledged, to)) {
				t.Errorf("%q: %s was renamed to %s without a sync", args, from, to)
			}
			if !synced(c.ended, acknowledged, filepath.Dir(to)) {
				t.Errorf("%q: the directory of %s was not synced before the command printed", args, to)
			}
		} else if strings.HasPrefix(c.name, "unlink") && !c.failed && strings.Contains(c.args, "refs/domarkx/sessions/") && !strings.Contains(c.args, ".lock") {
			refs++
		}
	}
	if refs == 0 {
		t.Errorf("%q: no reference was changed in the trace", args)
	}
	var dirs []string
	last, objects := 0, 0
	for _, c := range calls {
		from, to := c.paths(gitDir)
		if !c.moves() || c.failed || !objectName.MatchString(to) {
			continue
		}
		objects++
		if c.began > firstRef {
			continue // an existing object, moved after the reference
		}
		if !synced(0, firstRef, from, to) {
			t.Errorf("%q: the object %s was not synced before the reference moved", args, to)
		}
		if dir := filepath.Dir(to); !journal && !synced(c.ended, firstRef, dir) {
			t.Errorf("%q: the directory of %s was not synced before the reference moved", args, to)
		} else if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		last = max(last, c.ended)
	}
	if objects > 0 && len(dirs) > 0 && !synced(last, firstRef, dirs...) {
		t.Errorf("%q: no directory of an object was synced between the last object and the reference", args)
	}
	switch args[0] {
	case "import", "append", "edit", "fork", "rewind":
		if objects == 0 {
			t.Errorf("%q: no object was written in the trace", args)
		}
	}
}

// TestFaultSyncMount checks that a save in the mount is on the disk before fsync or close
// returns.
func TestFaultSyncMount(t *testing.T) {
	needProgram(t, "strace")
	needFUSE(t)
	t.Parallel()
	r := newRepository(t)
	r.write("s.md", document("s", 2))
	r.domarkx("import", "s.md")
	m := mountAt(t, r, filepath.Join(t.TempDir(), "mnt"))
	trace := filepath.Join(t.TempDir(), "trace")
	watch := r.command(t.Context(), "strace", "-f", "-y", "-ttt", "-s", "1000", "-o", trace, "-e", "trace="+tracedCalls, "-p", strconv.Itoa(m.serve.Process.Pid))
	var said lockedBuffer
	watch.Stderr = &said
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "strace is attached", func() bool { return strings.Contains(said.String(), "attached") })
	returned := map[string]time.Time{}
	for _, how := range []string{"fsync", "close"} {
		file, err := os.OpenFile(m.path("sessions/s.md"), os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString("## user\n\nmarker-" + how + "\n"); err != nil {
			t.Fatal(err)
		}
		if how == "fsync" {
			err = file.Sync()
		} else {
			err = file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		returned[how] = time.Now()
		file.Close()
	}
	m.end()
	if err := watch.Wait(); err != nil {
		t.Fatalf("strace: %v: %s", err, said.String())
	}
	calls := parseTrace(t, trace)
	for how, at := range returned {
		limit := float64(at.UnixNano()) / 1e9
		ok := slices.ContainsFunc(calls, func(w call) bool {
			if !strings.Contains(w.name, "write") || !strings.Contains(w.args, "marker-"+how) || strings.Contains(w.file(), "/dev/fuse") {
				return false
			}
			return slices.ContainsFunc(calls, func(c call) bool {
				return c.began > w.ended && c.at < limit && !c.failed && (c.name == "syncfs" || c.syncs() && c.file() == w.file())
			})
		})
		if !ok {
			t.Errorf("when %s returned, what was saved was not written and synced", how)
		}
	}
}
