//go:build linux

package postgres_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database/databasetest"
	"github.com/domarkx/domarkx/plugins/plugintest"
	"github.com/domarkx/domarkx/plugins/postgres"
	"github.com/google/go-cmp/cmp"
)

// servers returns the process ids of PostgreSQL servers with files in a place that the resource's
// directory names.
func servers(t *testing.T, dir string) []string {
	t.Helper()
	states, err := filepath.Glob(filepath.Join(dir, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(dir, "*", "*", "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	var pids []string
	for _, path := range append(states, more...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		place, _ := jsonvalue.MustParse(string(data)).Get("Place")
		found, err := filepath.Glob("/proc/[0-9]*/cwd")
		if err != nil {
			t.Fatal(err)
		}
		for _, cwd := range found {
			if target, err := os.Readlink(cwd); err == nil && strings.HasPrefix(target, place.Text()) {
				pids = append(pids, filepath.Base(filepath.Dir(cwd)))
			}
		}
	}
	return pids
}

// gone waits until no server of a resource is running.
func gone(t *testing.T, dir string) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-ticker.C {
		pids := servers(t, dir)
		if len(pids) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("servers %v are left", pids)
		}
	}
}

// TestKill kills this program during a statement: no server may survive, and no committed work may
// be lost.
func TestKill(t *testing.T) {
	dir := dir(t)
	if err := common.plant(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	rounds := 2
	if testing.Short() {
		rounds = 1
	}
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "POSTGRES_HOLD="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || line != "working <nil>\n" {
			t.Errorf("%q, %v", line, err)
		}
		if len(servers(t, dir)) == 0 {
			t.Error("no server is there to be killed")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // returns the signal that killed it
		if round == 0 {
			gone(t, dir)
		} // else the next process starts while the server is still ending
		db := databasetest.Open(t, postgres.New(), domarkx.Env{Dir: dir})
		if !db.Changed() {
			t.Error("not changed")
		}
		if got, want := db.Query("SELECT count(*) FROM t WHERE v = 1"), fmt.Sprintf("[[%d]]", round+1); got != want {
			t.Errorf("t has %s, expected %s", got, want)
		}
		if got := db.Query("SELECT count(*) FROM t WHERE v = 2"); got != "[[0]]" {
			t.Errorf("the interrupted statement had an effect: %s", got)
		}
		if err := db.Live.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if pids := servers(t, dir); len(pids) > 0 {
			t.Errorf("servers %v are still running", pids)
		}
	}
}

// TestServerKilled kills the server during a statement, as the kernel does when memory is short. PostgreSQL
// empties unlogged tables then, which must not go unnoticed.
func TestServerKilled(t *testing.T) {
	dir := dir(t)
	if err := common.plant(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	var warned []string
	db := databasetest.Open(t, postgres.New(), domarkx.Env{Dir: dir, Warn: func(message string) { warned = append(warned, message) }})
	db.Execute("CREATE TABLE kept AS SELECT 1 AS v; CREATE UNLOGGED TABLE lost AS SELECT 1 AS v")
	said := make(chan string)
	go func() { said <- db.Try("execute", "SELECT pg_sleep(1000)", "") }()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for working := false; !working; <-ticker.C {
		for _, pid := range servers(t, dir) {
			title, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			working = working || strings.Contains(string(title), "[local] SELECT")
		}
	}
	for _, pid := range servers(t, dir) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(n, syscall.SIGKILL) // it may have ended with the others
	}
	if got := <-said; !strings.Contains(got, "the connection to the database broke") {
		t.Error(got)
	}
	if got := db.Query("SELECT 1"); got != "[[1]]" {
		t.Errorf("then a query returns %s", got)
	}
	if got := db.Query("SELECT count(*) FROM kept UNION ALL SELECT count(*) FROM lost"); got != "[[1],[0]]" {
		t.Errorf("after the crash: %s rows", got)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], ": lost;") {
		t.Errorf("warned %q", warned)
	}
	if err := db.Live.Close(context.Background()); err != nil {
		t.Error(err)
	}
	db.Query("SELECT 1")
	if len(warned) != 1 {
		t.Errorf("warned again after a start: %q", warned[1:])
	}
}

func TestMissingPrograms(t *testing.T) {
	if _, err := postgres.Programs([]string{filepath.Join(t.TempDir(), "*")}, "", "no-such-program"); err == nil || !strings.Contains(err.Error(), "apt-get install postgresql") {
		t.Errorf("got %v", err)
	}
}

func TestDSN(t *testing.T) {
	const dsn = "host=/nowhere user=u password=secret dbname=d"
	env := domarkx.Env{Dir: t.TempDir(), Config: jsonvalue.ObjectValue(jsonvalue.Member{Name: "dsn", Value: jsonvalue.StringValue(dsn)})}
	ctx := context.Background()
	if _, err := postgres.New().Open(ctx, env); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "domarkx.allowDSN") {
		t.Errorf("not allowed: %v", err)
	}
	env.Allow.DSNs = []string{dsn}
	live, err := postgres.New().Open(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	_, err = live.Execute(ctx, domarkx.Call{Tool: "schema", Arguments: jsonvalue.ObjectValue()})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("no server at the address: %v", err)
	}
}

// TestExternal uses the server of a resource as that of an existing database of the user.
func TestExternal(t *testing.T) {
	if testing.Short() {
		t.Skip("loads many versions")
	}
	own := dir(t) // where nothing else, not even a cleaning after other tests, changes the numbers of transactions
	databasetest.Open(t, planted{}, domarkx.Env{Dir: own}).Query("SELECT 1")
	state, err := os.ReadFile(filepath.Join(own, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	v := jsonvalue.MustParse(string(state))
	text := func(name string) string {
		member, _ := v.Get(name)
		return member.Text()
	}
	open := func(user string) *databasetest.DB {
		dsn := fmt.Sprintf("host=%s user=%s password=%s dbname=domarkx", text("Socket"), user, text("Password"))
		return databasetest.Open(t, planted{}, domarkx.Env{Dir: t.TempDir(), Allow: domarkx.Allow{DSNs: []string{dsn}},
			Config: jsonvalue.ObjectValue(jsonvalue.Member{Name: "dsn", Value: jsonvalue.StringValue(dsn)})})
	}
	admin := open("git_domarkx")
	if _, err := admin.Live.Execute(context.Background(), domarkx.Call{Tool: "schema", Arguments: jsonvalue.ObjectValue()}); err == nil || !strings.Contains(err.Error(), "powers of") {
		t.Errorf("a superuser: %v", err)
	}
	db := open("domarkx")
	m := plugintest.NewMemory()
	empty := db.Commit(m)
	if db.Changed() {
		t.Error("changed after a commit")
	}
	db.Execute("CREATE SCHEMA x; CREATE TABLE x.t (id int PRIMARY KEY); INSERT INTO x.t VALUES (1); CREATE TABLE u (v text); CREATE SEQUENCE s")
	full := db.Commit(m)
	if db.Changed() {
		t.Error("changed after a commit")
	}
	db.Execute("SELECT nextval('s')")
	if !db.Changed() {
		t.Error("not changed by a sequence")
	}
	db.Commit(m)
	open("domarkx").Execute("INSERT INTO u VALUES ('by another')")
	if !db.Changed() {
		t.Error("not changed by another program")
	}
	for _, version := range []string{empty, full} {
		db.Load(m, version)
		if db.Changed() {
			t.Error("changed after loading")
		}
		if again := db.Commit(m); again != version {
			t.Errorf("the version changed after a load:\n%s", cmp.Diff(databasetest.Files(t, m, version), databasetest.Files(t, m, again)))
		}
	}
	// A private copy uses a private server.
	private := databasetest.Open(t, planted{}, domarkx.Env{Dir: dir(t), Private: true,
		Config: jsonvalue.ObjectValue(jsonvalue.Member{Name: "dsn", Value: jsonvalue.StringValue("host=/nowhere")})})
	private.Load(m, full)
	if again := private.Commit(m); again != full {
		t.Error("another version elsewhere")
	}
}

func TestConformance(t *testing.T) {
	call := func(tool, arguments string) domarkx.Call {
		return domarkx.Call{Tool: tool, Arguments: jsonvalue.MustParse(arguments)}
	}
	plugintest.Run(t, plugintest.Suite{
		Plugin:   planted{},
		ReadOnly: []string{"query", "schema"}, Dump: true,
		Config: jsonvalue.ObjectValue(),
		Changes: []domarkx.Call{
			call("execute", `{"sql": "CREATE TABLE t (id int PRIMARY KEY, v text)"}`),
			call("execute", `{"sql": "INSERT INTO t VALUES (1, $1), (2, 'two')", "args": ["one"]}`),
			call("execute", `{"sql": "CREATE SEQUENCE s; DROP TABLE t"}`),
			call("execute", `{"sql": "SELECT nextval('s')"}`),
		},
		Read: call("query", `{"sql": "SELECT relname FROM pg_class"}`),
		Refused: map[string]domarkx.Call{
			domarkx.CodeFailed:  call("query", `{"sql": "SELECT * FROM nothing"}`),
			domarkx.CodeRefused: call("query", `{"sql": "CREATE TABLE x (y int)"}`),
			domarkx.CodeInvalid: call("query", `{"sql": "SELECT $1", "args": {"a": 1}}`),
		},
		Invalid: []jsonvalue.Value{
			jsonvalue.MustParse(`{"dsn": ""}`), jsonvalue.MustParse(`{"dsn": 1}`), jsonvalue.MustParse(`{"path": "x"}`),
		},
		Alive:  func(dir string) bool { return len(servers(t, dir)) > 0 },
		Costly: 6,
	})
}
