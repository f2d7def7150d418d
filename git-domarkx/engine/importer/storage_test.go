package importer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

// TestUnchangedStorage: a session of OpenCode that has a file for each part is not read again while none of them
// was written, added or removed.
func TestUnchangedStorage(t *testing.T) {
	c := newClone(t)
	storage := filepath.Join(t.TempDir(), "storage")
	old := time.Now().Add(-time.Hour)
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(storage, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	temporary := t.TempDir()
	imported := func() (shown string, read bool) {
		t.Helper()
		for _, dir := range []string{filepath.Join(temporary, "missing"), temporary} { // a session is read into a temporary file
			t.Setenv("TMPDIR", dir)
			result, err := c.Import(t.Context(), importer.Request{Paths: []string{storage}})
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Sessions) == 1 {
				return c.Shown(result.Sessions[0].Name), read
			}
			read = true
		}
		t.Fatal("the session was not imported")
		return "", false
	}
	for _, m := range []string{"1", "2"} {
		write("message/ses_1/msg_"+m+".json", fmt.Sprintf(`{"id":"msg_%s","sessionID":"ses_1","role":"user","time":{"created":177278400%s000}}`, m, m))
		write("part/msg_"+m+"/prt_"+m+".json", fmt.Sprintf(`{"id":"prt_%s","type":"text","text":"said %s"}`, m, m))
	}
	write("session/p/ses_1.json", `{"id":"ses_1","directory":"/w","title":"T","version":"0.15","time":{"created":1772784000000,"updated":1772784000000}}`)
	if shown, read := imported(); !read || strings.Count(shown, "said ") != 2 {
		t.Fatalf("read: %t\n%s", read, shown)
	}
	if _, read := imported(); read {
		t.Error("the unchanged session was read again")
	}
	write("part/msg_2/prt_2.json", `{"id":"prt_2","type":"text","text":"done 2"}`) // in place, of the same size and time
	if shown, read := imported(); !read || !strings.Contains(shown, "done 2") {
		t.Errorf("a part was written; read: %t\n%s", read, shown)
	}
	write("part/msg_2/prt_3.json", `{"id":"prt_3","type":"text","text":"and 3"}`)
	if shown, read := imported(); !read || !strings.Contains(shown, "and 3") {
		t.Errorf("a part was added; read: %t\n%s", read, shown)
	}
	if err := os.Remove(filepath.Join(storage, "part/msg_2/prt_3.json")); err != nil {
		t.Fatal(err)
	}
	if _, read := imported(); !read {
		t.Error("a part was removed, and the session was not read")
	}
	if err := os.Chtimes(filepath.Join(storage, "message/ses_1/msg_1.json"), time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a file that was written just now may be written again without another time
		if _, read := imported(); !read {
			t.Error("a session that is being written was not read")
		}
	}
	c.Fsck()
}
