//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins"
	"github.com/jackc/pgx/v5"
)

// The roles and the database of a server.
const (
	superuser = "git_domarkx" // initializes and reads catalogs; no statement of a tool runs as it
	// readerRole reads rows. To plan that, the server may call functions of indexes, which
	// toolRole created. It is a member of toolRole, which may connect.
	readerRole   = "git_domarkx_reader"
	toolRole     = "domarkx" // owns the database
	databaseName = "domarkx"
	loadingName  = "domarkx_loading" // the database of a version until it is complete
	oldName      = "domarkx_old"     // the replaced database, until the new one has its name
)

// A server is the private server of a resource.
type server struct {
	dir     string // of the resource
	state   serverState
	account *syscall.Credential // that it runs as; nil for this program's own
	bin     string              // directory of the programs
	process *process            // nil while it is not running
	warn    func(message string)
}

// openServer finds the server of a resource, or prepares to create one.
func openServer(env domarkx.Env) (store, error) {
	s := &server{dir: env.Dir, warn: env.Warn}
	var err error
	if s.account, err = unprivileged(); err != nil {
		return nil, err
	}
	if s.state, err = s.readState(); err != nil {
		return nil, err
	}
	if s.bin, err = programs(places, s.major(), "initdb", "postgres", "pg_dump", "pg_restore"); err != nil {
		return nil, fmt.Errorf("a private server: %w", err)
	}
	return s, s.removeSocket()
}

var _ plugins.Leftovers = Plugin{}

func (*server) shared() bool { return false }

func (s *server) data() string { return filepath.Join(s.state.Place, "data") }

// major returns the major version of the existing server files, "" for none.
func (s *server) major() string {
	data, err := os.ReadFile(filepath.Join(s.data(), "PG_VERSION"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// run starts the server unless it runs.
func (s *server) run(ctx context.Context) error {
	if s.process != nil && !s.process.hasEnded() {
		return nil
	}
	if err := s.initialize(ctx); err != nil {
		return err
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	return s.prepare(ctx)
}

// initialize creates the server's files, if they do not exist.
func (s *server) initialize(ctx context.Context) error {
	if s.major() != "" {
		return nil
	}
	if err := s.makePlace(); err != nil {
		return err
	}
	fresh := s.data() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	password := filepath.Join(s.state.Place, "password")
	if err := os.WriteFile(password, []byte(s.state.Password+"\n"), 0o600); err != nil {
		return err
	}
	defer os.Remove(password)
	if err := s.own(password); err != nil {
		return err
	}
	var err error
	for _, locale := range []string{"C.UTF-8", "C"} { // not every system has the first
		cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"), "--pgdata="+fresh, "--username="+superuser, "--pwfile="+password,
			"--auth=scram-sha-256", "--encoding=UTF8", "--locale="+locale)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = s.state.Place, environment(), s.attributes()
		out, ierr := cmd.CombinedOutput()
		if err = ierr; err == nil {
			break
		}
		err = fmt.Errorf("create the files of a PostgreSQL server: %w: %s", err, tail(out))
	}
	if err != nil {
		return err
	}
	return os.Rename(fresh, s.data())
}

// prepare waits until the server answers, creates the role and the database, and repairs the effects of a kill or a
// statement on the role.
func (s *server) prepare(ctx context.Context) error {
	c, err := s.await(ctx)
	if err != nil {
		return err
	}
	if err = errors.Join(s.prepareWith(ctx, c), c.end(ctx)); err != nil {
		return fmt.Errorf("prepare the PostgreSQL server in %q: %w", s.data(), err)
	}
	return nil
}

func (s *server) prepareWith(ctx context.Context, c *connection) error {
	for _, role := range []struct{ name, more string }{{toolRole, ""}, {readerRole, " BYPASSRLS; GRANT pg_read_all_data, " + toolRole + " TO " + readerRole}} {
		found, err := c.value(ctx, "SELECT count(*) FROM pg_roles WHERE rolname = $1", role.name)
		if err != nil {
			return err
		}
		if found == "0" {
			if err := c.do(ctx, "CREATE ROLE "+role.name); err != nil {
				return err
			}
		}
		// The password contains only letters and digits.
		err = c.do(ctx, "ALTER ROLE "+role.name+" RESET ALL; ALTER ROLE "+role.name+" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD '"+s.state.Password+"'"+role.more)
		if err != nil {
			return err
		}
	}
	there, err := c.list(ctx, "SELECT datname FROM pg_database")
	switch {
	case err != nil || slices.Contains(there, databaseName):
	case slices.Contains(there, oldName):
		err = c.do(ctx, "ALTER DATABASE "+oldName+" RENAME TO "+databaseName)
	default:
		err = c.do(ctx, create(databaseName))
	}
	if err == nil {
		err = dropOthers(ctx, c)
	}
	if err != nil {
		return err
	}
	return s.nameLost(ctx, c)
}

func create(name string) string {
	return "CREATE DATABASE " + name + " OWNER " + toolRole + " TEMPLATE template0"
}

// drop removes a database if it exists. Its owner may have made it a template, which PostgreSQL would not remove.
func drop(ctx context.Context, admin *connection, name string) error {
	template, err := admin.value(ctx, "SELECT datistemplate FROM pg_database WHERE datname = $1", name)
	if err == nil && template == "t" {
		err = admin.do(ctx, "ALTER DATABASE "+name+" IS_TEMPLATE false")
	}
	if err != nil {
		return err
	}
	return admin.do(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

// dropOthers removes what a failed load left.
func dropOthers(ctx context.Context, admin *connection) error {
	return errors.Join(drop(ctx, admin, loadingName), drop(ctx, admin, oldName))
}

// to connects as a role to a database of the running server.
func (s *server) to(ctx context.Context, role, name string) (*connection, error) {
	c, err := s.config(role, name)
	if err != nil {
		return nil, err
	}
	as := forVersions
	if role == toolRole {
		as = forTools
	}
	return connect(ctx, c, as)
}

func (s *server) config(role, name string) (*pgx.ConnConfig, error) {
	c, err := parse("host=/ user=u sslmode=disable")
	if err != nil {
		return nil, err
	}
	c.Host, c.Port, c.User, c.Password, c.Database = s.state.Socket, port, role, s.state.Password, name
	c.Fallbacks = nil
	return c, nil
}

func (s *server) connect(ctx context.Context, as purpose) (*connection, error) {
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	role := map[purpose]string{forTools: toolRole, forVersions: superuser, forRows: readerRole}[as]
	c, err := s.to(ctx, role, databaseName)
	if err == nil || ctx.Err() != nil {
		return c, err
	}
	if rerr := s.revive(ctx); rerr != nil {
		return nil, errors.Join(err, rerr)
	}
	return s.to(ctx, role, databaseName)
}

// revive repairs what can keep a role from connecting: the server ended or recovers from a crash, or a statement changed
// the role's password.
func (s *server) revive(ctx context.Context) error {
	err := s.prepare(ctx)
	if s.process == nil && ctx.Err() == nil {
		return s.run(ctx)
	}
	return err
}

func (s *server) dumper(ctx context.Context) (string, []string, error) {
	if err := s.run(ctx); err != nil {
		return "", nil, err
	}
	c, err := s.config(superuser, databaseName)
	if err != nil {
		return "", nil, err
	}
	return s.bin, dumpEnvironment(c), nil
}

// replace fills a new database with the privileges of toolRole, and renames it to the name of the old one.
func (s *server) replace(ctx context.Context, roles []string, fill func(*connection) error) error {
	if err := s.run(ctx); err != nil {
		return err
	}
	admin, err := s.to(ctx, superuser, "postgres")
	if err != nil {
		return err
	}
	defer func() { _ = admin.end(ctx) }()
	missing, err := missingRoles(ctx, admin, roles)
	if err != nil {
		return err
	}
	for _, name := range missing { // the roles get no LOGIN, so nobody can connect with them
		if err := admin.do(ctx, "CREATE ROLE "+quote(name)); err != nil {
			return fmt.Errorf("create the role %q that the version names: %w", name, err)
		}
	}
	if err := dropOthers(ctx, admin); err != nil {
		return err
	}
	if err := admin.do(ctx, create(loadingName)); err != nil {
		return err
	}
	c, err := s.to(ctx, toolRole, loadingName)
	if err != nil {
		return err
	}
	err = c.transaction(ctx, func() error { return fill(c) })
	if err = errors.Join(err, c.end(ctx)); err != nil {
		return errors.Join(err, drop(context.WithoutCancel(ctx), admin, loadingName))
	}
	for _, sql := range []string{
		"ALTER DATABASE " + databaseName + " RENAME TO " + oldName,
		"ALTER DATABASE " + loadingName + " RENAME TO " + databaseName,
	} {
		if err := admin.do(ctx, sql); err != nil {
			return err
		}
	}
	return drop(ctx, admin, oldName)
}

func (s *server) close(context.Context) error {
	if s.process == nil {
		return nil
	}
	err := shutDown(s.process.cmd.Process, "", s.process.endedWithin)
	s.process = nil
	return errors.Join(err, s.removeSocket())
}

func (s *server) remove(ctx context.Context) error {
	if err := s.close(ctx); err != nil {
		return err
	}
	if err := s.endOther(); err != nil {
		return err
	}
	if err := removePlace(s.state.Place); err != nil {
		return err
	}
	if err := atomicfile.Remove(filepath.Join(s.dir, logName)); err != nil {
		return err
	}
	return atomicfile.Remove(filepath.Join(s.dir, stateName))
}
