package drafts_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/fusefs/drafts"
)

func TestRewrite(t *testing.T) {
	dir := t.TempDir()
	change := func(d drafts.Draft) (drafts.Draft, bool) {
		now := bytes.ReplaceAll(d.Data, []byte("secret"), []byte("***"))
		changed := !bytes.Equal(now, d.Data)
		d.Data = now
		return d, changed
	}
	if err := drafts.Rewrite(dir, change); err != nil {
		t.Errorf("without drafts: %v", err)
	}
	dead, live := open(t, dir), open(t, dir)
	first := drafts.Draft{Name: "s", Base: "b", State: drafts.Saved, Data: []byte("a secret")}
	first.Key = put(t, dead, first)
	second := drafts.Draft{Name: "s", After: first.Key, AfterIs: drafts.Sum(first.Data), State: drafts.Saved, Data: []byte("more")}
	second.Key = put(t, dead, second)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	other := drafts.Draft{Name: "l", State: drafts.Broken, Data: []byte("its secret")}
	other.Key = put(t, live, other)
	before := list(t, dir)
	if err := drafts.Rewrite(dir, change); !errors.Is(err, drafts.ErrInUse) {
		t.Errorf("with a draft of a running process: %v", err)
	}
	if diff := cmp.Diff(before, list(t, dir)); diff != "" {
		t.Errorf("a refused change: %s", diff)
	}
	if err := errors.Join(live.Delete(other.Key), drafts.Rewrite(dir, change)); err != nil {
		t.Fatal(err)
	}
	first.Data = []byte("a ***")
	second.AfterIs = drafts.Sum(first.Data)
	if diff := cmp.Diff([]drafts.Draft{first, second}, list(t, dir)); diff != "" {
		t.Error(diff)
	}
	if err := live.Close(); err != nil {
		t.Fatal(err)
	}
}
