package opencodedb

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/opencode"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

const tables = `CREATE TABLE session (id text PRIMARY KEY, directory text, title text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
INSERT INTO session VALUES ('ses_1', '/work', 'A note', 1, 1);`

// A program uses a database as OpenCode does.
type program struct {
	*sqlite3.Conn
	t        *testing.T
	messages int
}

func start(t *testing.T, path string) *program {
	t.Helper()
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &program{Conn: c, t: t}
}

func (p *program) run(statements string) {
	p.t.Helper()
	for rest := statements; strings.TrimSpace(rest) != ""; {
		s, after, err := p.Prepare(rest)
		for more := err == nil; more; {
			more, err = s.Step()
		}
		if err != nil {
			p.t.Fatal(err)
		}
		if rest = after; s.Close() != nil {
			p.t.Fatal("closing a statement")
		}
	}
}

// add adds messages that need many pages.
func (p *program) add(n int) {
	p.t.Helper()
	for range n {
		p.messages++
		p.run(fmt.Sprintf(`INSERT INTO message VALUES ('msg_%04d', 'ses_1', %d, 1, '{"role":"user","text":"%s"}')`, p.messages, p.messages, strings.Repeat("x", 3000)))
	}
}

// TestWrittenBetweenCopies: a program that starts while the database and its log are copied, and moves the
// log into the database, takes nothing from the sessions.
func TestWrittenBetweenCopies(t *testing.T) {
	for name, test := range map[string]struct {
		write func(p *program)
		ends  bool
	}{
		"the log begins anew": {func(p *program) { p.run("PRAGMA wal_checkpoint(RESTART)"); p.add(1) }, false},
		"the log is emptied":  {func(p *program) { p.run("PRAGMA wal_checkpoint(TRUNCATE)") }, false},
		"the log grows":       {func(p *program) { p.add(3) }, false},
		"the log is removed":  {func(p *program) { p.add(1) }, true},
		"another log":         {func(p *program) { p.run("PRAGMA wal_checkpoint(TRUNCATE)"); p.add(2) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			from := filepath.Join(t.TempDir(), "opencode.db")
			first := start(t, from)
			first.run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;" + tables)
			first.add(40)
			path := filepath.Join(t.TempDir(), "opencode.db")
			for _, suffix := range []string{"", "-wal"} { // of a program that was killed
				if err := copyFile(path+suffix, from+suffix); err != nil {
					t.Fatal(err)
				}
			}
			var second *program
			db, err := openFile(path, func(to, from string) error {
				if err := copyFile(to, from); err != nil || second != nil || strings.HasSuffix(from, "-wal") {
					return err
				}
				second = start(t, path)
				second.messages = first.messages
				test.write(second)
				if test.ends {
					return second.Close()
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var out bytes.Buffer
			skipped, err := db.Export(t.Context(), "ses_1", &out)
			if err != nil || len(skipped) > 0 {
				t.Fatalf("skipped %q, %v", skipped, err)
			}
			if n := strings.Count(out.String(), `"msg_`); n < first.messages || n > second.messages {
				t.Errorf("%d messages, want %d to %d", n, first.messages, second.messages)
			}
		})
	}
}

// TestAlwaysWritten: a database that changes whenever it is copied is reported, and nothing of it stays.
func TestAlwaysWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.db")
	if err := errors.Join(os.WriteFile(path, []byte(sqlite3.Magic), 0o600), os.WriteFile(path+"-wal", []byte("0"), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	copies := 0
	_, err := openFile(path, func(to, from string) error {
		copies++
		return errors.Join(copyFile(to, from), os.WriteFile(path+"-wal", fmt.Append(nil, copies), 0o600))
	})
	if !errors.Is(err, opencode.ErrChanged) || copies != 2*maxAttempts {
		t.Errorf("%d copies, %v", copies, err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
