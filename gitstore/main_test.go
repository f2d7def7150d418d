package gitstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

var testTime = time.Unix(1700000000, 0).UTC()

func testEnv() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

// git runs git in a directory and returns its output.
func git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, testEnv()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// newRepository creates a bare repository and returns its directory.
func newRepository(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	gittest.Create(tb, dir, "master", true)
	return dir
}

// open opens the sessions of the repository in a directory.
func open(tb testing.TB, dir string) *gitstore.Store {
	tb.Helper()
	g, err := gitcmd.Discover(context.Background(), dir, testEnv())
	if err != nil {
		tb.Fatal(err)
	}
	s, err := gitstore.Open(context.Background(), g)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// newStore opens a new repository.
func newStore(tb testing.TB) (*gitstore.Store, string) {
	tb.Helper()
	dir := newRepository(tb)
	return open(tb, dir), dir
}

func update(tb testing.TB, s *gitstore.Store, fn func(*gitstore.Tx) error) {
	tb.Helper()
	if err := s.Update(context.Background(), "test", fn); err != nil {
		tb.Fatal(err)
	}
}

// commitOf returns a commit of a state.
func commitOf(state *domarkx.State, parents ...string) domarkx.Commit {
	who := domarkx.Signature{Name: "A U Thor", Email: "author@example.com", When: testTime}
	return domarkx.Commit{Parents: parents, State: state, Operation: "test", Subject: "test", Bytes: 7, Preview: "p", Author: who, Committer: who}
}

// entry returns message k of a test session.
func entry(k int, after domarkx.ID, text string) domarkx.Entry {
	role := domarkx.User
	if k%2 == 1 {
		role = domarkx.Assistant
	}
	m := domarkx.Message{Role: role, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: text}}}
	return domarkx.Entry{ID: domarkx.DeriveID(0, []byte(fmt.Sprint(k))), After: after, Role: role, Date: testTime.Unix() + int64(k),
		JSON:   domarkx.Blob{Data: append(m.Value().AppendJSON(nil, "", "  "), '\n')},
		Layout: domarkx.Layout{Digest: [32]byte{byte(k), byte(k >> 8), byte(k >> 16), 1}, Size: int64(len(text))}}
}

// conversation returns a state of n messages.
func conversation(n int) *domarkx.State {
	state := &domarkx.State{Headers: []domarkx.HeaderEntry{header()}}
	var after domarkx.ID
	for k := range n {
		e := entry(k, after, fmt.Sprintf("message %d", k))
		after = e.ID
		state.Thread.Live = append(state.Thread.Live, e)
	}
	return state
}

func header() domarkx.HeaderEntry {
	return domarkx.HeaderEntry{JSON: domarkx.Blob{Data: append(domarkx.NewHeader().Value().AppendJSON(nil, "", "  "), '\n')}}
}

// save stores a state as the newest snapshot of a session.
func save(tb testing.TB, s *gitstore.Store, name string, state *domarkx.State) domarkx.Info {
	tb.Helper()
	var info domarkx.Info
	update(tb, s, func(tx *gitstore.Tx) error {
		ctx := context.Background()
		var parents []string
		if tip, err := tx.Tip(ctx, name); err == nil {
			parents = []string{tip.ID}
		}
		var err error
		if info, err = tx.Commit(ctx, commitOf(state, parents...)); err != nil {
			return err
		}
		return tx.Set(ctx, name, info.ID)
	})
	return info
}

// unpack converts all packed objects of a repository to loose ones.
func unpack(tb testing.TB, dir string) {
	tb.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, pack := range packs {
		data, err := os.ReadFile(pack)
		if err == nil {
			err = errors.Join(os.Remove(strings.TrimSuffix(pack, ".pack")+".idx"), os.Remove(pack))
		}
		if err != nil {
			tb.Fatal(err)
		}
		cmd := exec.Command("git", "unpack-objects", "-q")
		cmd.Dir, cmd.Env, cmd.Stdin = dir, testEnv(), bytes.NewReader(data)
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("git unpack-objects: %v\n%s", err, out)
		}
	}
}

const id1 = "00000000fffffffe0102030405060708"

func mustID(t interface{ Fatal(...any) }, s string) domarkx.ID {
	id, err := domarkx.ParseID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
