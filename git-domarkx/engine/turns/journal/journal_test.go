package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/journal"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

func call() journal.Call {
	return journal.Call{Session: "a/b", Workspace: "w", Message: domarkx.ID{1, 2}, Index: 3, Resource: "sh", Tool: "run", Appends: true, Before: "old\n", Completed: "{\"x\": 1}",
		Process: 42, Block: domarkx.Block{Type: domarkx.CodeBlock, Language: "tool-call", Name: "n", HasName: true, Text: "{\"resource\": \"sh\"}\n\u2028"}}
}

// TestRoundTrip: an entry is read as it was written, until its call ends.
func TestRoundTrip(t *testing.T) {
	j := journal.In(t.TempDir())
	if all, err := j.List(); err != nil || all != nil {
		t.Fatalf("an empty journal: %v, %v", all, err)
	}
	first, second := call(), journal.Call{Session: "s", Message: domarkx.ID{9}, Block: domarkx.Block{Type: domarkx.CodeBlock, Language: "bash", Text: "true\n"}}
	for _, c := range []journal.Call{first, second} {
		if err := j.Begin(c); err != nil {
			t.Fatal(err)
		}
	}
	all, err := j.List()
	if err != nil || !reflect.DeepEqual(all, []journal.Call{first, second}) {
		t.Fatalf("%+v, %v", all, err)
	}
	for range 2 { // to end it again is no error
		if err := j.End(first); err != nil {
			t.Fatal(err)
		}
	}
	if all, err = j.List(); err != nil || !reflect.DeepEqual(all, []journal.Call{second}) {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestLeftovers: what a killed process began to write is removed after an hour, and is no entry before.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	j := journal.In(dir)
	if err := j.Begin(call()); err != nil {
		t.Fatal(err)
	}
	young, old := filepath.Join(dir, "calls", atomicfile.TempPrefix+"1"), filepath.Join(dir, "calls", atomicfile.TempPrefix+"2")
	for _, path := range []string{young, old} {
		if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if all, err := j.List(); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an old temporary file stays: %v", err)
	}
}

// FuzzList reads any bytes as an entry: a call, or an error that says what they are.
func FuzzList(f *testing.F) {
	dir := f.TempDir()
	j := journal.In(dir)
	if err := j.Begin(call()); err != nil {
		f.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "calls", "*.json"))
	if err != nil || len(files) != 1 {
		f.Fatal(files, err)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{good, good[:len(good)/2], nil, []byte("[]"), []byte(`{"format": 2}`), []byte(`{"format": 1, "message": 7}`), []byte("\xff")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(files[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := j.List()
		switch {
		case err != nil && !errors.Is(err, domarkx.ErrCorrupt) && !errors.Is(err, domarkx.ErrUnsupported):
			t.Errorf("%v", err)
		case err == nil && len(all) != 1:
			t.Errorf("%d entries", len(all))
		case err == nil:
			_, _ = all[0].String(), all[0].Recorded()
		}
	})
}
