package opencodedb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/opencode"
	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

const schema = `CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text, title text, version text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
INSERT INTO session VALUES ('ses_2', 'global', 'ses_1', 'b', '/work/other', 'Look', '1.18', 1772784002000, 1772784003000);
INSERT INTO session VALUES ('ses_1', 'global', NULL, 'a', '/work/shop', 'Write a note', '1.18', 1772784001000, 1772784004000);
INSERT INTO message VALUES ('msg_2', 'ses_1', 1772784002000, 1, '{"role":"assistant","time":{"created":1772784002000},"modelID":"m","providerID":"p"}');
INSERT INTO message VALUES ('msg_1', 'ses_1', 1772784001000, 1, '{"role":"user","time":{"created":1772784001000}}');
INSERT INTO message VALUES ('msg_3', 'ses_2', 1772784001000, 1, '{"role":"user","time":{"created":1772784001000}}');
INSERT INTO part VALUES ('prt_3', 'msg_2', 'ses_1', 1, 1, '{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a\nb"}}');
INSERT INTO part VALUES ('prt_2', 'msg_2', 'ses_1', 1, 1, ' {"type":"text","text":"I look \u2028 \"there\"."}');
INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1, 1, '{"type":"text","text":"Write a note."}');
INSERT INTO part VALUES ('prt_4', 'msg_3', 'ses_2', 1, 1, '{"type":"text","text":"Look."}');`

// makeDatabase creates a database, and returns its path and the connection of the program that has
// it open.
func makeDatabase(tb testing.TB, statements string) (string, *sqlite3.Conn) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "opencode.db")
	c, err := sqlite3.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	run(tb, c, "PRAGMA journal_mode = WAL;"+statements)
	return path, c
}

func run(tb testing.TB, c *sqlite3.Conn, statements string) {
	tb.Helper()
	for rest := statements; strings.TrimSpace(rest) != ""; {
		s, after, err := c.Prepare(rest)
		if err != nil {
			tb.Fatal(err)
		}
		for more := true; more; {
			if more, err = s.Step(); err != nil {
				tb.Fatal(err)
			}
		}
		if rest = after; s.Close() != nil {
			tb.Fatal("closing a statement")
		}
	}
}

func export(tb testing.TB, path, session string) (string, []string) {
	tb.Helper()
	db, err := opencodedb.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	skipped, err := db.Export(tb.Context(), session, &out)
	if err := errors.Join(err, db.Close()); err != nil {
		tb.Fatal(err)
	}
	return out.String(), skipped
}

// files returns the files in the directory of a database with their contents, but for the index of
// the log, in which readers note their reads.
func files(tb testing.TB, path string) map[string]string {
	tb.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		if err != nil {
			tb.Fatal(err)
		}
		if strings.HasSuffix(e.Name(), "-shm") {
			data = nil
		}
		found[e.Name()] = string(data)
	}
	return found
}

// TestExport reads a database that a program has open, one whose program was killed, and one that
// was closed. Each time it reads the same, and changes no file.
func TestExport(t *testing.T) {
	open, program := makeDatabase(t, schema)
	killed := filepath.Join(t.TempDir(), "opencode.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(open + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(killed+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	closed, last := makeDatabase(t, schema)
	if err := last.Close(); err != nil {
		t.Fatal(err)
	}
	run(t, program, "BEGIN IMMEDIATE; INSERT INTO part VALUES ('prt_9', 'msg_2', 'ses_1', 1, 1, '{\"type\":\"text\",\"text\":\"not committed\"}');")
	for name, path := range map[string]string{"open": open, "killed": killed, "closed": closed} {
		t.Run(name, func(t *testing.T) {
			before := files(t, path)
			text, skipped := export(t, path, "ses_1")
			if len(skipped) != 0 {
				t.Errorf("skipped %q", skipped)
			}
			formattest.Golden(t, "testdata/export.json", text)
			doc := formattest.MustOpen(t, opencode.Codec(), text)[0].Document
			formattest.Golden(t, "testdata/export.md", formattest.Markdown(t, doc))
			if len(doc.Damage) != 0 {
				t.Errorf("damage: %v", doc.Damage)
			}
			if diff := cmp.Diff(before, files(t, path)); diff != "" {
				t.Errorf("files changed (-before +after):\n%s", diff)
			}
		})
	}
	if _, err := os.Stat(closed + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log of a closed database: %v", err)
	}
}

// TestSessions lists the sessions with where they began, and notices what changed.
func TestSessions(t *testing.T) {
	path, program := makeDatabase(t, schema)
	list := func() []opencode.StoredSession {
		db, err := opencodedb.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		all, err := db.Sessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := list()
	if len(before) != 2 || before[0].ID != "ses_1" || before[0].Directory != "/work/shop" || before[1].ID != "ses_2" || before[0].Stamp == "" {
		t.Errorf("sessions %+v", before)
	}
	for _, change := range []string{
		"UPDATE part SET data = '{}', time_updated = 2 WHERE id = 'prt_3'",
		"DELETE FROM part WHERE id = 'prt_3'",
		"INSERT INTO message VALUES ('msg_9', 'ses_1', 1772784009000, 1, '{}')",
		"UPDATE session SET title = 'x', time_updated = 1772784009000 WHERE id = 'ses_1'",
	} {
		run(t, program, change)
		after := list()
		if after[0].Stamp == before[0].Stamp || after[1] != before[1] {
			t.Errorf("%s: before %+v, after %+v", change, before, after)
		}
		before = after
	}
}

// TestDamage leaves out rows that cannot be read, and reports them.
func TestDamage(t *testing.T) {
	path, program := makeDatabase(t, schema)
	run(t, program, `UPDATE part SET data = '{"type":"text"' WHERE id = 'prt_2'; UPDATE message SET data = x'00ff' WHERE id = 'msg_1'`)
	text, skipped := export(t, path, "ses_1")
	want := []string{`the message "msg_1" could not be read`, `the part "prt_2" of message "msg_2" could not be read`}
	if diff := cmp.Diff(want, skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if doc := formattest.MustOpen(t, opencode.Codec(), text)[0].Document; len(doc.Conversation) != 1 || len(doc.Damage) != 0 {
		t.Errorf("%d messages, %v", len(doc.Conversation), doc.Damage)
	}
}

// TestRefused refuses files other than databases of OpenCode, and runs nothing that its schema says.
func TestRefused(t *testing.T) {
	other, _ := makeDatabase(t, "CREATE TABLE x (y)")
	if _, err := opencodedb.Open(other); !errors.Is(err, domarkx.ErrUnsupported) {
		t.Errorf("another program's database: %v", err)
	}
	views, _ := makeDatabase(t, "CREATE TABLE secret (v); CREATE TABLE message (session_id); CREATE TABLE part (id); CREATE VIEW session AS SELECT v AS id, v AS directory, 1 AS time_created FROM secret")
	if _, err := opencodedb.Open(views); !errors.Is(err, domarkx.ErrUnsupported) {
		t.Errorf("a view: %v", err)
	}
	garbage := filepath.Join(t.TempDir(), "opencode.db")
	if err := os.WriteFile(garbage, append([]byte("SQLite format 3\x00"), bytes.Repeat([]byte{7}, 8192)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := opencodedb.Open(garbage); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("garbage: %v", err)
	}
	good, _ := makeDatabase(t, schema)
	db, err := opencodedb.Open(good)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Export(t.Context(), "ses_3", &bytes.Buffer{}); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("an unknown session: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Sessions(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestWhileWritten reads a session while a program adds to it: every state that is read is one that
// the program committed.
func TestWhileWritten(t *testing.T) {
	path, program := makeDatabase(t, schema)
	const messages = 200
	written := make(chan error, 1)
	go func() {
		for i := range messages { // each transaction adds a message with two parts
			id := fmt.Sprintf("msg_w%04d", i)
			for _, sql := range []string{"BEGIN IMMEDIATE",
				fmt.Sprintf(`INSERT INTO message VALUES ('%s', 'ses_1', %d, 1, '{"role":"user","time":{"created":1772784009000}}')`, id, 1772784010000+i),
				fmt.Sprintf(`INSERT INTO part VALUES ('prt_w%04da', '%s', 'ses_1', 1, 1, '{"type":"text","text":"one"}')`, i, id),
				fmt.Sprintf(`INSERT INTO part VALUES ('prt_w%04db', '%s', 'ses_1', 1, 1, '{"type":"text","text":"two"}')`, i, id), "COMMIT"} {
				if err := program.Exec(sql); err != nil {
					written <- err
					return
				}
			}
		}
		written <- nil
	}()
	last, done := 0, false
	for !done || last < messages {
		select {
		case err := <-written:
			if done = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
		text, _ := export(t, path, "ses_1")
		doc := formattest.MustOpen(t, opencode.Codec(), text)[0].Document
		n := len(doc.Conversation) - 2
		if n < last || strings.Count(text, `"one"`) != n || strings.Count(text, `"two"`) != n {
			t.Fatalf("%d messages after %d, %d and %d parts", n, last, strings.Count(text, `"one"`), strings.Count(text, `"two"`))
		}
		last = n
	}
}

// FuzzOpen: a damaged database is an error, and what can be read of it is an export.
func FuzzOpen(f *testing.F) {
	path, program := makeDatabase(f, schema)
	if err := program.Close(); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "opencode.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := opencodedb.Open(path)
		if err != nil {
			return
		}
		defer db.Close()
		all, err := db.Sessions(t.Context())
		if err != nil {
			return
		}
		for _, s := range all {
			var out bytes.Buffer
			if _, err := db.Export(t.Context(), s.ID, &out); err == nil {
				formattest.CheckAny(t, opencode.Codec(), out.Bytes())
			}
		}
	})
}

// TestStorage: the files that OpenCode wrote before version 1.2 are the sessions that a database has now, and
// nothing outside of their directory is read.
func TestStorage(t *testing.T) {
	home := t.TempDir()
	storage := filepath.Join(home, "storage")
	for name, text := range map[string]string{
		"secret.json":                          `{"id":"msg_3","role":"user"}`,
		"storage/session/global/ses_2.json":    `{"id":"ses_2","directory":"/work/other","title":"Look","parentID":"ses_1","version":"0.15","time":{"created":2,"updated":3}}`,
		"storage/session/global/ses_1.json":    ` {"id":"ses_1","directory":"/work/shop","title":"Write a note","version":"0.15","time":{"created":1,"updated":4}}` + "\n",
		"storage/session/global/other.json":    `{}`,
		"storage/message/ses_1/msg_2.json":     `{"id":"msg_2","sessionID":"ses_1","role":"assistant","time":{"created":2},"modelID":"m","providerID":"p"}`,
		"storage/message/ses_1/msg_1.json":     `{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1}}`,
		"storage/message/ses_1/msg_4.json":     `{"id":"msg_4"`,
		"storage/message/ses_2/msg_5.json":     `{"id":"msg_5","sessionID":"ses_2","role":"user","time":{"created":1}}`,
		"storage/part/msg_1/prt_1.json":        `{"id":"prt_1","type":"text","text":"Write a note."}`,
		"storage/part/msg_2/prt_3.json":        `{"id":"prt_3","type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a\nb"}}`,
		"storage/part/msg_2/prt_2.json":        `{"id":"prt_2","type":"text","text":"I look."}`,
		"storage/part/msg_2/prt_4.json":        `[]`,
		"storage/part/msg_5/prt_5.json":        `{"id":"prt_5","type":"text","text":"Look."}`,
		"storage/project/global.json":          `{"id":"global"}`,
		"storage/session_diff/ses_1.json":      `[]`,
		"elsewhere/session/global/ses_1.json":  `{}`,
		"not/storage/session/global/ses_1.txt": `{}`,
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../../secret.json", filepath.Join(storage, "message/ses_1/msg_3.json")); err != nil {
		t.Fatal(err)
	}
	if !opencodedb.IsStorage(storage) || opencodedb.IsStorage(filepath.Join(home, "elsewhere")) || opencodedb.IsStorage(filepath.Join(home, "not/storage")) {
		t.Error("the wrong directories are taken for storage")
	}
	if row, ok := opencodedb.InStorage(filepath.Join(storage, "session/global/ses_1.json")); !ok || row != storage+"#ses_1" {
		t.Errorf("in storage: %q", row)
	}
	d, err := opencodedb.Open(storage)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	all, err := d.Sessions(t.Context())
	if diff := cmp.Diff([]opencode.StoredSession{{ID: "ses_1", Directory: "/work/shop"}, {ID: "ses_2", Directory: "/work/other"}}, all); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	var out bytes.Buffer
	skipped, err := d.Export(t.Context(), "ses_1", &out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`the part "prt_4" of message "msg_2" could not be read`, `the message "msg_4" could not be read`}, skipped); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	doc := formattest.MustOpen(t, opencode.Codec(), out.String())[0].Document
	want := []string{"user: Write a note.", `assistant: I look. call {"command":"ls"} result a b`}
	if diff := cmp.Diff(want, formattest.Said(doc)); diff != "" || doc.Damage != nil {
		t.Errorf("%v (-want +got):\n%s", doc.Damage, diff)
	}
	if _, err := d.Export(t.Context(), "ses_3", &out); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("a session that is not there: %v", err)
	}
}
