package remote_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// TestMain runs victim if REMOTE_VICTIM is set.
func TestMain(m *testing.M) {
	if dir := os.Getenv("REMOTE_VICTIM"); dir != "" {
		if err := victim(dir, os.Getenv("REMOTE_ID")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(shorttest.Main(m))
}

const sessions = 8

// victim pushes sessions to the remote and removes them, in turn, and fetches in between.
func victim(dir, id string) error {
	ctx := context.Background()
	g, err := gitcmd.Discover(ctx, dir, gittest.Env())
	if err != nil {
		return err
	}
	origin, err := remote.Find(ctx, g, "")
	if err != nil {
		return err
	}
	client := &remote.Client{Git: g, Refs: refdb.Open(context.Background(), g), Kinds: []string{"sessions"}}
	fmt.Println("ready")
	for {
		if err := turn(ctx, client, origin, id); err != nil {
			return err
		}
	}
}

func turn(ctx context.Context, client *remote.Client, origin remote.Remote, id string) error {
	fetched, err := client.Fetch(ctx, origin)
	if err != nil {
		return err
	}
	if n := len(fetched.Refs); n != 0 && n != sessions {
		return fmt.Errorf("the remote has %d sessions", n)
	}
	var changes []refdb.Change
	for i := range sessions {
		change := refdb.Change{Ref: session(strconv.Itoa(i)), New: id}
		if len(fetched.Refs) > 0 {
			change.Old, change.New = id, ""
		}
		changes = append(changes, change)
	}
	results, err := client.Push(ctx, origin, changes...)
	if err != nil {
		return err
	}
	for _, result := range results {
		if !result.Status.OK() {
			return fmt.Errorf("%+v", result)
		}
	}
	return nil
}

// TestKill kills pushes and fetches, with or without their git. Afterwards the next one must
// work, and the remote must have all sessions or none.
func TestKill(t *testing.T) {
	hub := gittest.Init(t, "--bare")
	a := attach(t, gittest.Init(t), hub)
	id := gittest.Commits(t, a.dir, 1)[0]
	seed := time.Now().UnixNano()
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	kills := gittest.Rounds(12, 400)
	for i := range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(gittest.Env(), "REMOTE_VICTIM="+a.dir, "REMOTE_ID="+id)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		<-time.NewTimer(time.Duration(random.IntN(60_000)) * time.Microsecond).C
		kill(cmd, i%2 == 0)
		cmd.Wait()
		err = turn(t.Context(), a.client, a.origin, id)
		for tries := 0; err != nil && tries < 50; tries++ {
			// The remote may still be processing what the killed process sent.
			err = turn(t.Context(), a.client, a.origin, id)
		}
		if err != nil {
			t.Fatalf("after kill %d, seed %d: %v", i, seed, err)
		}
	}
	locks(t, a.dir)
	gittest.Run(t, hub, "fsck", "--strict")
	gittest.Run(t, a.dir, "fsck", "--strict")
}

// kill kills a process and, unless alone, the git that it started.
func kill(cmd *exec.Cmd, alone bool) {
	pid := cmd.Process.Pid
	syscall.Kill(pid, syscall.SIGSTOP)
	var gits []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		data, _ := os.ReadFile(file)
		for _, field := range strings.Fields(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				gits = append(gits, child)
			}
		}
	}
	syscall.Kill(pid, syscall.SIGKILL)
	if !alone {
		for _, git := range gits {
			syscall.Kill(git, syscall.SIGKILL)
		}
	}
}
