package opencodedb_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/opencode"
	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
)

func open(t *testing.T, path string) *opencodedb.DB {
	t.Helper()
	db, err := opencodedb.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestOddRows: whatever the rows hold, an export is JSON.
func TestOddRows(t *testing.T) {
	for name, test := range map[string]struct {
		statements string
		want       []string
	}{
		"blanks around objects":   {`UPDATE message SET data = ' {"role":"user"} ' || char(10) WHERE id = 'msg_1'; UPDATE part SET data = '{"type":"text","text":"Hi"}' || char(13) || char(10) WHERE id = 'prt_1'; DELETE FROM message WHERE id = 'msg_2'`, []string{"user: Hi"}},
		"objects without members": {`UPDATE message SET data = '{ } ' WHERE id = 'msg_2'; UPDATE part SET data = '{}' || char(10) WHERE id = 'prt_1'`, []string{}},
		"a message without parts": {"DELETE FROM part", []string{"assistant:"}},
		"no messages":             {"DELETE FROM message", []string{}},
		"messages without ids":    {"UPDATE message SET id = NULL WHERE id = 'msg_2'", []string{"user: Write a note."}},
		"members of ours in data": {`UPDATE message SET data = '{"id":"evil","sessionID":"ses_2","role":"assistant","time":{"created":1}}' WHERE id = 'msg_2'`, []string{"user: Write a note.", `assistant: I look ` + "\u2028" + ` "there". [c bash {"command":"ls"}] -> "a\nb"`}},
	} {
		path, program := makeDatabase(t, schema)
		run(t, program, test.statements)
		text, _ := export(t, path, "ses_1")
		if _, err := jsonvalue.ParseValue([]byte(text)); err != nil {
			t.Errorf("%s: %v:\n%s", name, err, text)
		}
		doc := formattest.MustOpen(t, opencode.Codec(), text)[0].Document
		if diff := cmp.Diff(test.want, append([]string{}, formattest.Shown(doc)...)); diff != "" || doc.Damage != nil {
			t.Errorf("%s: damage %v (-want +got):\n%s\n%s", name, doc.Damage, diff, text)
		}
	}
}

// TestStamps: the stamp of a session changes with it, and with no other.
func TestStamps(t *testing.T) {
	path, program := makeDatabase(t, schema)
	stamps := func() map[string]string {
		all, err := open(t, path).Sessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]string{}
		for _, s := range all {
			of[s.ID] = s.Stamp
		}
		return of
	}
	last := stamps()
	for _, statement := range []string{
		"UPDATE session SET time_updated = 1772784009000 WHERE id = 'ses_1'",
		"INSERT INTO message VALUES ('msg_9', 'ses_1', 1, 1, '{}')",
		"INSERT INTO part VALUES ('prt_9', 'msg_9', 'ses_1', 1, 1, '{}')",
		"UPDATE part SET time_updated = 7 WHERE id = 'prt_1'",
		"DELETE FROM message WHERE id = 'msg_1'",
	} {
		run(t, program, statement)
		now := stamps()
		if now["ses_1"] == last["ses_1"] || now["ses_2"] != last["ses_2"] || now["ses_2"] == "" {
			t.Errorf("%s: %q becomes %q", statement, last, now)
		}
		last = now
	}
	old, _ := makeDatabase(t, strings.ReplaceAll(schema, "time_updated integer", "x integer"))
	all, err := open(t, old).Sessions(t.Context())
	if err != nil || len(all) != 2 || all[0].Stamp != "" {
		t.Errorf("without times: %v, %v", all, err)
	}
}

// TestLastModel: the model that answered last, in the session that was used last.
func TestLastModel(t *testing.T) {
	path, program := makeDatabase(t, schema)
	last := func() string {
		model, err := open(t, path).LastModel(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return model
	}
	for _, test := range []struct{ statement, want string }{
		{"SELECT 1", "p/m"},
		{`INSERT INTO message VALUES ('msg_7', 'ses_1', 1772784003000, 1, '{"role":"assistant","providerID":"p","modelID":"later"}')`, "p/later"},
		{`INSERT INTO message VALUES ('msg_8', 'ses_1', 1772784004000, 1, '{"role":"assistant","providerID":"unknown","modelID":"imported"}')`, "p/later"},
		{`INSERT INTO message VALUES ('msg_9', 'ses_1', 1772784005000, 1, 'broken')`, "p/later"},
		{`UPDATE session SET time_updated = 1 WHERE id = 'ses_1'; INSERT INTO message VALUES ('msg_6', 'ses_2', 1, 1, '{"role":"assistant","providerID":"q","modelID":"n"}')`, "q/n"},
		{"DELETE FROM message", ""},
	} {
		run(t, program, test.statement)
		if got := last(); got != test.want {
			t.Errorf("%s: %q, want %q", test.statement, got, test.want)
		}
	}
}

// TestPaths: a path names a database and a session, unless there is a file of that name.
func TestPaths(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	database, link, odd := filepath.Join(dir, "opencode.db"), filepath.Join(dir, "link.db"), filepath.Join(dir, "x#ses_1")
	if err := errors.Join(os.WriteFile(database, nil, 0o600), os.WriteFile(odd, nil, 0o600), os.Symlink("opencode.db", link)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]string{
		opencodedb.Path(database, "ses_1"): {database, "ses_1"},
		opencodedb.Path(odd, "ses_2"):      {odd, "ses_2"},
		odd:                                {},
		database:                           {},
		database + "#msg_1":                {},
	} {
		base, session, ok := opencodedb.Split(path)
		if [2]string{base, session} != want || ok != (want != [2]string{}) {
			t.Errorf("%s is %q, %q, %t", path, base, session, ok)
		}
	}
	for path, want := range map[string]string{link: database, opencodedb.Path(link, "ses_1"): opencodedb.Path(database, "ses_1"), filepath.Join(dir, "..", filepath.Base(dir), "opencode.db"): database} {
		if got, err := opencodedb.Canonical(path); got != want || err != nil {
			t.Errorf("%s is %q, %v", path, got, err)
		}
	}
	if _, err := opencodedb.Canonical(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if _, err := opencodedb.Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if _, err := opencodedb.Open(dir); !errors.Is(err, domarkx.ErrUnsupported) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := opencodedb.Open(os.DevNull); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("a device: %v", err)
	}
}

// TestChanged: a database without a log that is written while it is open must be opened again.
func TestChanged(t *testing.T) {
	path, program := makeDatabase(t, schema)
	if err := program.Close(); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	if _, err := db.Sessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Sessions(t.Context()); !errors.Is(err, opencode.ErrChanged) {
		t.Errorf("its sessions: %v", err)
	}
	if _, err := db.Export(t.Context(), "ses_1", io.Discard); !errors.Is(err, opencode.ErrChanged) {
		t.Errorf("an export: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := db.LastModel(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

// TestExportErrors: an output that is full, and a context that is done, end an export.
func TestExportErrors(t *testing.T) {
	path, _ := makeDatabase(t, schema)
	db := open(t, path)
	out := formattest.FailingWriter(10)
	if _, err := db.Export(t.Context(), "ses_1", &out); !errors.Is(err, formattest.ErrBroken) {
		t.Errorf("a full disk: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(formattest.ErrBroken)
	if _, err := db.Export(ctx, "ses_1", io.Discard); !errors.Is(err, formattest.ErrBroken) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := db.LastModel(ctx); !errors.Is(err, formattest.ErrBroken) {
		t.Errorf("cancelled: %v", err)
	}
}
