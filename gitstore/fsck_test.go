package gitstore_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

// rewritten creates a copy of a commit with replaced files ("" removes one) and a changed message.
func rewritten(t *testing.T, dir, commit string, files map[string]string, old, new string) string {
	t.Helper()
	index := filepath.Join(t.TempDir(), "index")
	run := func(stdin string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, append(testEnv(), "GIT_INDEX_FILE="+index), strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSuffix(string(out), "\n")
	}
	run("", "read-tree", commit)
	for path, content := range files {
		if content == "" {
			run("0 "+strings.Repeat("0", 40)+"\t"+path+"\n", "update-index", "--index-info")
			continue
		}
		run("", "update-index", "--add", "--cacheinfo", "100644,"+run(content, "hash-object", "-w", "--stdin")+","+path)
	}
	message := run("", "log", "-1", "--format=%B", commit)
	return run(strings.Replace(message, old, new, 1), "commit-tree", run("", "write-tree"))
}

func TestFsckFinds(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	state := conversation(20)
	source := []byte("## assistant\n\nmessage 1  \n")
	state.Thread.Live[1].Layout = domarkx.Layout{Verbatim: true, Digest: sha256.Sum256(source), Size: int64(len(source))}
	state.Thread.Live[1].Source = domarkx.Blob{Data: source}
	state.Thread.Dead = []domarkx.Tombstone{{ID: mustID(t, id1), Past: []domarkx.Rev{{}}}}
	sound := save(t, s, "sound", state).ID
	if found, err := s.Fsck(ctx, nil); err != nil || len(found) != 0 {
		t.Fatalf("of a sound session: %+v, %v", found, err)
	}
	leaf := "conversation/0000/00/00/"
	entries := git(t, dir, "cat-file", "blob", sound+":"+leaf+"entries") + "\n"
	lines := strings.SplitAfter(entries, "\n")
	lines[2] = strings.TrimSuffix(lines[2], "\n") + " after=" + lines[0][:32] + "\n" // its id is greater than that of line 1
	message := git(t, dir, "cat-file", "blob", sound+":"+leaf+"00-user.json") + "\n"
	for name, tt := range map[string]struct {
		files    map[string]string
		old, new string
		word     string
	}{
		"bytes of the author":  {files: map[string]string{leaf + "01.md": "## assistant\n"}, word: "SHA-256"},
		"order":                {files: map[string]string{leaf + "entries": strings.Join(lines, "")}, word: "order"},
		"entries":              {files: map[string]string{leaf + "entries": entries + "x\n"}, word: "corrupt"},
		"entries gone":         {files: map[string]string{leaf + "entries": ""}, word: "corrupt"},
		"too many messages":    {old: "Messages: 20", new: "Messages: 33", word: "directories"},
		"too few messages":     {old: "Messages: 20", new: "Messages: 15", word: "directories"},
		"one message too few":  {old: "Messages: 20", new: "Messages: 19", word: "messages"},
		"message no JSON":      {files: map[string]string{leaf + "00-user.json": "{"}, word: "member name"},
		"message no message":   {files: map[string]string{leaf + "00-user.json": "{}\n"}, word: "role"},
		"message gone":         {files: map[string]string{leaf + "00-user.json": ""}, word: "message 00"},
		"role":                 {files: map[string]string{leaf + "00-user.json": "", leaf + "00-assistant.json": message}, word: "role"},
		"two roles":            {files: map[string]string{leaf + "00-assistant.json": message}, word: "files"},
		"source of no message": {files: map[string]string{"conversation/0000/00/01/09.md": "x"}, word: "files"},
		"directory name":       {files: map[string]string{"conversation/0000/00/7/entries": entries}, word: "directories"},
		"file in the root":     {files: map[string]string{"README": "x"}, word: "root"},
		"header no header":     {files: map[string]string{"snapshot.json": "{}\n"}, word: "version"},
		"header gone":          {files: map[string]string{"snapshot.json": ""}, word: "missing"},
		"header file":          {files: map[string]string{"header": "- 0\n"}, word: "header"},
		"tombstone":            {files: map[string]string{"deleted/08": "x\n"}, word: "deleted/08"},
		"tombstone misplaced":  {files: map[string]string{"deleted/09": git(t, dir, "cat-file", "blob", sound+":deleted/08") + "\n"}, word: "deleted/09"},
		"included name":        {files: map[string]string{"includes/%2e": "x"}, word: "includes"},
		"original":             {files: map[string]string{"source/original": "x"}, word: "original"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := rewritten(t, dir, sound, tt.files, tt.old, tt.new)
			git(t, dir, "update-ref", "refs/domarkx/sessions/bad", bad)
			found, err := s.Fsck(ctx, nil)
			if err != nil || len(found) != 1 || found[0].Severity != "error" || found[0].Where != "bad@"+bad || !strings.Contains(found[0].What, tt.word) {
				t.Errorf("%+v, %v, want one error with %q", found, err, tt.word)
			}
		})
	}
	git(t, dir, "update-ref", "-d", "refs/domarkx/sessions/bad")
	git(t, dir, "update-ref", "refs/domarkx/sessions/Sound", sound)
	git(t, dir, "update-ref", "refs/domarkx/sessions/a@b", sound)
	git(t, dir, "update-ref", "refs/domarkx-trash/sessions/x", sound)
	found, err := s.Fsck(ctx, nil)
	if err != nil || len(found) != 3 || found[0].Severity != "warning" || !strings.Contains(found[0].What+found[1].What+found[2].What, "case") {
		t.Errorf("of names: %+v, %v", found, err)
	}
}

func TestMissingAndDamagedObjects(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	tip := save(t, s, "s", conversation(3))
	unpack(t, dir)
	s = open(t, dir)
	path := "conversation/0000/00/00/01-assistant.json"
	blob := git(t, dir, "rev-parse", tip.ID+":"+path)
	file := filepath.Join(dir, "objects", blob[:2], blob[2:])
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(ctx, tip.ID); err != nil {
		t.Errorf("Load reads contents: %v", err)
	}
	e, err := s.Entry(ctx, tip.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(ctx, e.JSON); !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), blob) {
		t.Errorf("reading what is missing: %v", err)
	}
	if found, err := s.Fsck(ctx, nil); err != nil || len(found) != 1 || !strings.Contains(found[0].What, blob) {
		t.Errorf("fsck of what is missing: %+v, %v", found, err)
	}
	whole[len(whole)/2] ^= 1
	if err := os.WriteFile(file, whole, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(ctx, e.JSON); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("reading what is damaged: %v", err)
	}
	if _, err := s.Entry(ctx, tip.ID, 3); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("message 3 of 3: %v", err)
	}
	head := git(t, dir, "commit-tree", "-m", "not of a session", git(t, dir, "rev-parse", tip.ID+"^{tree}"))
	if _, err := s.Info(ctx, head); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("a commit of somebody else: %v", err)
	}
}

// TestFsckBesideCollection checks that objects which a concurrent git gc moves do not count as missing.
func TestFsckBesideCollection(t *testing.T) {
	s, dir := newStore(t)
	for i := range 3 {
		save(t, s, fmt.Sprint("s", i), conversation(3+i))
	}
	s = open(t, dir)
	packs, hidden := filepath.Join(dir, "objects", "pack"), filepath.Join(dir, "hidden")
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Error(err)
		}
	}
	hide := true
	found, err := s.Fsck(context.Background(), func(done, _ int) {
		switch {
		case hide && done == 0:
			move(packs, hidden)
		case hide && done == 1:
			hide = false
			move(hidden, packs)
		}
	})
	if err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestPartialClone(t *testing.T) {
	_, from := newStore(t)
	tip := save(t, open(t, from), "s", conversation(3))
	git(t, from, "config", "uploadpack.allowFilter", "true")
	git(t, from, "update-ref", "refs/heads/main", tip.ID)
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, from, "clone", "-q", "--bare", "--filter=blob:none", "file://"+from, dir)
	git(t, dir, "config", "remote.origin.url", "file:///nonexistent")
	s := open(t, dir)
	if _, err := s.Load(context.Background(), tip.ID); err == nil {
		t.Error("loaded what is only at a remote that is not there")
	}
	git(t, dir, "config", "remote.origin.url", "file://"+from)
	s = open(t, dir)
	state, err := s.Load(context.Background(), tip.ID)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := s.Read(context.Background(), state.Thread.Live[2].JSON); err != nil || !strings.Contains(string(data), "message 2") {
		t.Errorf("%q, %v", data, err)
	}
}

func TestReadOnlyRepository(t *testing.T) {
	dir := newRepository(t)
	writer := open(t, dir)
	manySessions(t, writer, 100, 1)
	cache := filepath.Join(dir, "domarkx", "list-cache")
	if err := os.Chmod(filepath.Join(dir, "domarkx"), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "domarkx"), 0o700) })
	s := open(t, dir)
	if got := list(t, s); len(got) != 100 {
		t.Errorf("%d sessions", len(got))
	}
	if _, err := s.Load(context.Background(), list(t, s)[0].ID); err != nil {
		t.Error(err)
	}
	if os.Geteuid() != 0 { // root can write anywhere
		if _, err := os.Stat(cache); err == nil {
			t.Error("a cache was written")
		}
	}
}

// TestReadingWritesNothing checks that opening and reading do not change a repository.
func TestReadingWritesNothing(t *testing.T) {
	dir := newRepository(t)
	before := git(t, dir, "count-objects", "-v")
	s := open(t, dir)
	if got := list(t, s); len(got) != 0 {
		t.Errorf("sessions in a new repository: %v", got)
	}
	if _, err := s.Tip(context.Background(), "none"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Error(err)
	}
	if found, err := s.Fsck(context.Background(), nil); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := os.Stat(s.StateDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state directory is there: %v", err)
	}
	if after := git(t, dir, "count-objects", "-v"); after != before {
		t.Error(after)
	}
	save(t, s, "s", conversation(1))
	if info, err := os.Stat(s.StateDir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the state directory: %v, %v", info, err)
	}
}

func TestCommitsOfOthersAsParents(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	first := save(t, s, "s", conversation(1))
	foreign := git(t, dir, "commit-tree", "-m", "no workspace version", git(t, dir, "rev-parse", first.ID+"^{tree}"))
	err := s.Update(ctx, "test", func(tx *gitstore.Tx) error {
		_, err := tx.Commit(ctx, commitOf(conversation(2), first.ID, foreign))
		return err
	})
	if !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("a commit of somebody else as a parent: %v", err)
	}
	workspace := version(t, s, dir, "w", map[string]string{"code": "x"}).ID
	var second domarkx.Info
	update(t, s, func(tx *gitstore.Tx) (err error) {
		state := conversation(2)
		state.Thread.Live[1].Link = workspace
		if second, err = tx.Commit(ctx, commitOf(state, first.ID, workspace)); err != nil {
			return err
		}
		return tx.Set(ctx, "s", second.ID)
	})
	parents, err := s.Parents(ctx, second.ID)
	if err != nil || len(parents) != 2 || parents[1] != workspace || second.Number != 2 {
		t.Errorf("%v, %v, number %d", parents, err, second.Number)
	}
	n := 0
	for _, err := range s.Ancestors(ctx, second.ID) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d snapshots, want 2", n)
	}
	if found, err := s.Fsck(ctx, nil); err != nil || len(found) != 0 {
		t.Errorf("Fsck: %+v, %v", found, err)
	}
}
