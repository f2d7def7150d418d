package refdb_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// TestMain runs victim if REFDB_VICTIM is set.
func TestMain(m *testing.M) {
	if dir := os.Getenv("REFDB_VICTIM"); dir != "" {
		if err := victim(dir, strings.Fields(os.Getenv("REFDB_IDS"))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(shorttest.Main(m))
}

// counted returns names of references that move together.
func counted(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = session(fmt.Sprintf("%d/%d", n, i))
	}
	return names
}

var groups = [][]string{counted(1), counted(2), counted(20)}

// pairs are pairs of names. One of each exists.
var pairs = [][]string{{session("here"), session("there")}, {session("flip"), session("flip/x")}}

// victim moves each group to the next object and exchanges each pair, forever. It prints each
// completed change.
func victim(dir string, ids []string) error {
	ctx := context.Background()
	g, err := gitcmd.Discover(ctx, dir, gittest.Env())
	if err != nil {
		return err
	}
	refs := refdb.Open(context.Background(), g)
	for {
		for i, group := range slices.Concat(groups, pairs) {
			next, err := step(ctx, refs, group, ids, i >= len(groups))
			if err != nil {
				return err
			}
			fmt.Println(i, next)
		}
	}
}

func step(ctx context.Context, refs *refdb.Refs, group, ids []string, move bool) (int, error) {
	release, err := refs.Lock(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	old, _, err := refs.Read(group[0])
	if err != nil {
		return 0, err
	}
	if move {
		from, to := group[0], group[1]
		if old == "" {
			from, to = to, from
		}
		return 0, refs.Update(ctx, "move", refdb.Change{Ref: from, Old: ids[0]}, refdb.Change{Ref: to, New: ids[0]})
	}
	next := slices.Index(ids, old) + 1
	var changes []refdb.Change
	for _, name := range group {
		changes = append(changes, refdb.Change{Ref: name, Old: old, New: ids[next%len(ids)]})
	}
	return next % len(ids), refs.Update(ctx, "step", changes...)
}

func TestKill(t *testing.T) { backends(t, testKill) }

func testKill(t *testing.T, dir string) {
	kills := gittest.Rounds(12, 400)
	ids := gittest.Commits(t, dir, 50)
	if err := update(t, open(t, dir), refdb.Change{Ref: pairs[0][0], New: ids[0]}, refdb.Change{Ref: pairs[1][0], New: ids[0]}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var company sync.WaitGroup
	company.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			gittest.Try(dir, [][]string{{"pack-refs", "--all"}, {"gc", "--quiet"}}[i%2]...) // it may fail because of our locks
		}
	})
	defer company.Wait()
	defer stop()
	seed := time.Now().UnixNano()
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for i := range kills {
		said := killed(t, dir, ids, random, i%3)
		check(t, dir, ids, said)
		if t.Failed() {
			t.Fatalf("after kill %d, seed %d", i, seed)
		}
	}
	stop()
	company.Wait()
	none(t, filepath.Join(dir, ".git"))
	gittest.Run(t, dir, "fsck", "--strict")
}

// killed runs a victim for a random time and kills it: alone, with its git, or its git first. It
// returns the last position that the victim printed for each group.
func killed(t *testing.T, dir string, ids []string, random *rand.Rand, how int) map[int]int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(gittest.Env(), "REFDB_VICTIM="+dir, "REFDB_IDS="+strings.Join(ids, " "))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	said := map[int]int{}
	hear := func() bool {
		if !lines.Scan() {
			return false
		}
		var group, position int
		if _, err := fmt.Sscan(lines.Text(), &group, &position); err != nil {
			t.Errorf("the victim said %q", lines.Text())
		}
		said[group] = position
		return true
	}
	for range 1 + random.IntN(4) {
		if !hear() {
			t.Errorf("the victim stopped: %s", stderr.String())
			cmd.Wait()
			return said
		}
	}
	timer := time.NewTimer(time.Duration(random.IntN(12_000)) * time.Microsecond)
	<-timer.C
	pid := cmd.Process.Pid
	if how == 2 {
		for _, child := range children(pid) {
			syscall.Kill(child, syscall.SIGKILL)
		}
		<-time.NewTimer(time.Duration(random.IntN(3_000)) * time.Microsecond).C
	}
	syscall.Kill(pid, syscall.SIGSTOP)
	gits := children(pid)
	syscall.Kill(pid, syscall.SIGKILL)
	if how != 0 {
		for _, child := range gits {
			syscall.Kill(child, syscall.SIGKILL)
		}
	}
	for hear() {
	}
	cmd.Wait()
	return said
}

// children returns the child processes of a process.
func children(pid int) []int {
	var found []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		data, _ := os.ReadFile(file)
		for _, field := range strings.Fields(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

// check opens the repository as the next command does, and checks all references.
func check(t *testing.T, dir string, ids []string, said map[int]int) {
	t.Helper()
	refs := open(t, dir)
	release, err := refs.Lock(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	defer release()
	for i, group := range groups {
		first, _, err := refs.Read(group[0])
		if err != nil {
			t.Error(err)
		}
		for _, name := range group {
			if id, _, err := refs.Read(name); id != first || err != nil {
				t.Errorf("%s is at %q, %v, and %s at %q", name, id, err, group[0], first)
			}
			if _, err := os.Lstat(filepath.Join(dir, ".git", name+".lock")); err == nil && len(group) > 1 {
				// pack-refs locks these names briefly, too.
				if err := raiseOnce(t, refs, name, first); err != nil {
					t.Errorf("%s stays locked: %v", name, err)
				}
			}
		}
		at := slices.Index(ids, first)
		if was, ok := said[i]; ok {
			if at != was && at != (was+1)%len(ids) {
				t.Errorf("group %d is at %d, and was said to be at %d", i, at, was)
			}
		}
	}
	for _, pair := range pairs {
		_, here, err := refs.Read(pair[0])
		if err != nil {
			t.Error(err)
		}
		if _, there, err := refs.Read(pair[1]); err != nil || here == there {
			t.Errorf("%s: %v, %s: %v, %v", pair[0], here, pair[1], there, err)
		}
	}
	if left, err := refs.List("refs/domarkx/moving/"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, ".git", "domarkx", "journal")); err != nil || len(left) > 0 {
		t.Errorf("the journal holds %v, %v", left, err)
	}
}

// raiseOnce checks that a reference can be changed.
func raiseOnce(t *testing.T, refs *refdb.Refs, name, id string) error {
	t.Helper()
	return refs.Update(t.Context(), "check", refdb.Change{Ref: name, Old: id, New: id})
}
