package drafts_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
)

func open(t *testing.T, dir string) *drafts.Journal {
	t.Helper()
	j, err := drafts.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func put(t *testing.T, j *drafts.Journal, d drafts.Draft) string {
	t.Helper()
	key, err := j.Put(d)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func list(t *testing.T, dir string) []drafts.Draft {
	t.Helper()
	found, err := drafts.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var withoutKeys = cmp.Options{cmpopts.IgnoreFields(drafts.Draft{}, "Key"), cmpopts.EquateEmpty()}

func TestJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "drafts")
	if got := list(t, dir); len(got) != 0 {
		t.Errorf("a directory that is not there has %v", got)
	}
	j := open(t, dir)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v, %v", info, err)
	}
	a := drafts.Draft{Name: "a/b", Base: "1234", State: drafts.Saved, Data: []byte("x\n\x00\xff")}
	b := drafts.Draft{Name: "ünï", State: drafts.Broken, Problem: "ünï.md:1:2: \"bad\"\n", Data: nil}
	a.Key, b.Key = put(t, j, a), put(t, j, b)
	if diff := cmp.Diff([]drafts.Draft{a, b}, list(t, dir), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	a.Data = []byte("y")
	if key := put(t, j, a); key != a.Key {
		t.Errorf("a draft in the place of %q is %q", a.Key, key)
	}
	if err := errors.Join(j.Delete(b.Key), j.Delete(b.Key)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]drafts.Draft{a}, list(t, dir)); diff != "" {
		t.Error(diff)
	}
	if err := errors.Join(j.Delete(a.Key), j.Close()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAdopt(t *testing.T) {
	dir := t.TempDir()
	dead, live := open(t, dir), open(t, dir)
	first := drafts.Draft{Name: "s", State: drafts.Broken, Data: []byte("1")}
	first.Key = put(t, dead, first)
	second := drafts.Draft{Name: "s", After: first.Key, State: drafts.Saved, Data: []byte("2")}
	put(t, dead, second)
	put(t, live, drafts.Draft{Name: "l", State: drafts.Saved})
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	defer j.Close()
	put(t, j, drafts.Draft{Name: "mine", State: drafts.Saved})
	got, err := j.Adopt()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[1].After != got[0].Key {
		t.Fatalf("the second is after %q, the first is %q", got[1].After, got[0].Key)
	}
	second.After = got[0].Key
	if diff := cmp.Diff([]drafts.Draft{first, second}, got, withoutKeys); diff != "" {
		t.Error(diff)
	}
	if again, err := j.Adopt(); err != nil || len(again) != 0 {
		t.Errorf("adopted twice: %v, %v", again, err)
	}
	if got := list(t, dir); len(got) != 4 {
		t.Errorf("drafts are %v", got)
	}
	all := list(t, dir)
	held := all[slices.IndexFunc(all, func(d drafts.Draft) bool { return d.Name == "l" })].Key
	if inUse, err := drafts.Discard(dir, held, ""); err != nil || !slices.Equal(inUse, []string{held}) {
		t.Errorf("of a running process: %v, %v", inUse, err)
	}
	if err := live.Close(); err != nil {
		t.Fatal(err)
	}
	if inUse, err := drafts.Discard(dir, held, held); err != nil || inUse != nil {
		t.Fatal(inUse, err)
	}
	if got := list(t, dir); len(got) != 3 {
		t.Errorf("drafts are %v", got)
	}
}

// A mount that dies while it adopts drafts and saves more leaves all drafts in order.
func TestAdoptAgain(t *testing.T) {
	dir := t.TempDir()
	var want []drafts.Draft
	after := ""
	for generation := range 12 {
		j := open(t, dir)
		got, err := j.Adopt()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("generation %d: %s", generation, diff)
		}
		if len(want) > 3 { // the oldest becomes a snapshot
			if err := j.Delete(want[0].Key); err != nil {
				t.Fatal(err)
			}
			want = want[1:]
		}
		for n := range 2 {
			d := drafts.Draft{Name: "s", After: after, State: drafts.Saved, Data: fmt.Append(nil, generation, n)}
			d.Key = put(t, j, d)
			after = d.Key
			want = append(want, d)
		}
		want[0].Data = fmt.Append(nil, "again ", generation) // keeps its place
		put(t, j, want[0])
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	j := open(t, dir)
	if _, err := j.Adopt(); err != nil {
		t.Fatal(err)
	}
	for _, d := range want {
		if err := j.Delete(d.Key); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A child that a killed process was starting holds the lock for a moment.
func TestAdoptFromADeadProcess(t *testing.T) {
	dir := t.TempDir()
	child := open(t, dir) // stands for it
	key := put(t, child, drafts.Draft{Name: "s", State: drafts.Saved})
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, filepath.Dir(key), "lock")
	if err := os.WriteFile(lock, fmt.Appendf(nil, "%d\n", dead.Process.Pid), 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	defer j.Close()
	ended := make(chan error, 1)
	time.AfterFunc(50*time.Millisecond, func() { ended <- child.Close() })
	got, err := j.Adopt()
	if err != nil || len(got) != 1 || got[0].Key != key {
		t.Errorf("adopted %v, %v", got, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestDamagedDraftsStay(t *testing.T) {
	dir := t.TempDir()
	dead := open(t, dir)
	good := put(t, dead, drafts.Draft{Name: "good", State: drafts.Saved})
	bad := put(t, dead, drafts.Draft{Name: "bad", State: drafts.Saved, Data: []byte("text")})
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, bad+".draft")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data[:len(data)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := drafts.List(dir); !errors.Is(err, domarkx.ErrCorrupt) || len(found) != 1 || found[0].Key != good {
		t.Errorf("list: %v, %v", found, err)
	}
	j := open(t, dir)
	defer j.Close()
	if found, err := j.Adopt(); !errors.Is(err, domarkx.ErrCorrupt) || len(found) != 1 || found[0].Name != "good" {
		t.Errorf("adopt: %v, %v", found, err)
	}
	if left, err := os.ReadFile(file); err != nil || !bytes.Equal(left, data[:len(data)-1]) {
		t.Errorf("the damaged draft: %q, %v", left, err)
	}
}

func TestPutOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	journals, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	if err := os.RemoveAll(journals[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Put(drafts.Draft{Name: "s", State: drafts.Saved}); err == nil || !strings.Contains(err.Error(), `storing a save of "s"`) {
		t.Errorf("put: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		want error
	}{
		"nothing":          {"", domarkx.ErrCorrupt},
		"another file":     {"hello\n", domarkx.ErrCorrupt},
		"another version":  {"domarkx draft 2\n{}\n", domarkx.ErrUnsupported},
		"no header":        {"domarkx draft 1\n", domarkx.ErrCorrupt},
		"a broken header":  {"domarkx draft 1\n{\n", domarkx.ErrCorrupt},
		"an unknown state": {"domarkx draft 1\n{\"state\":\"x\"}\n", domarkx.ErrUnsupported},
		"a wrong digest":   {"domarkx draft 1\n{\"state\":\"saved\",\"bytes\":1}\nx", domarkx.ErrCorrupt},
	} {
		if _, err := drafts.Decode([]byte(tt.file)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drafts.Draft{
			Name: rapid.String().Draw(t, "name"), Base: rapid.StringMatching(`[0-9a-f]*`).Draw(t, "base"), After: rapid.StringMatching(`[0-9]*`).Draw(t, "after"), AfterIs: rapid.StringMatching(`[0-9a-f]*`).Draw(t, "after is"), Over: rapid.StringMatching(`[a-z]*/[0-9]*`).Draw(t, "over"),
			State:   rapid.SampledFrom([]drafts.State{drafts.Saved, drafts.Broken, drafts.Merged, drafts.Removed}).Draw(t, "state"),
			Problem: rapid.String().Draw(t, "problem"), Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
		}
		file, err := drafts.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := drafts.Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, d := range []drafts.Draft{{Name: "s", State: drafts.Saved, Data: []byte("x")}, {State: drafts.Removed}, {Name: "\x00\u2028", State: drafts.Broken, Problem: "1:2"}} {
		file, err := drafts.Encode(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
		f.Add(file[:len(file)/2])
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		d, err := drafts.Decode(file)
		if err != nil {
			if !errors.Is(err, domarkx.ErrCorrupt) && !errors.Is(err, domarkx.ErrUnsupported) {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		again, err := drafts.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		e, err := drafts.Decode(again)
		if diff := cmp.Diff(d, e, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
}
