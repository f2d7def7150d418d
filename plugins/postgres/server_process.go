//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

const (
	port         = 5432 // only part of the socket's name
	startTimeout = time.Minute
	poll         = 20 * time.Millisecond
)

// unprivileged returns the account that runs the servers of root, because PostgreSQL refuses root. It
// returns nil for other users.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "_postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if uerr == nil && gerr == nil && uid != 0 {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("PostgreSQL does not run as root, and this machine has no user postgres or nobody: %w", domarkx.ErrNotFound)
}

// attributes make a program run as the server's account and in its own process group, so that
// Ctrl-C reaches only this program.
func (s *server) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: s.account}
}

// parameters configure the server on its command line: it does not listen on the network, and uses little memory.
var parameters = []string{
	"listen_addresses=", "unix_socket_permissions=0700", "port=5432",
	"shared_buffers=32MB", "max_connections=20", "max_wal_senders=0", "wal_level=minimal", "max_wal_size=256MB",
	"max_locks_per_transaction=256", "jit=off", "logging_collector=off", "log_destination=stderr", "lc_messages=C",
	"password_encryption=scram-sha-256", "timezone=UTC", "autovacuum_naptime=5min",
}

// start starts the server.
func (s *server) start(ctx context.Context) error {
	if err := s.endOther(); err != nil {
		return err
	}
	if err := s.makeSocket(); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(s.dir, logName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"-D", s.data(), "-k", s.state.Socket}
	for _, p := range parameters {
		args = append(args, "-c", p)
	}
	cmd, with, err := supervised(filepath.Join(s.bin, "postgres"), args, s.attributes())
	if err != nil {
		return err
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.state.Place, environment(), log, log
	if s.process, err = run(cmd, with); err != nil {
		return fmt.Errorf("start a PostgreSQL server: %w", err)
	}
	return nil
}

// await waits until the server answers the superuser.
func (s *server) await(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		c, err := s.to(ctx, superuser, "postgres")
		if err == nil {
			return c, nil
		}
		select {
		case <-s.process.ended:
			out, rerr := os.ReadFile(filepath.Join(s.dir, logName))
			s.process = nil
			return nil, errors.Join(fmt.Errorf("the PostgreSQL server in %q does not start: %s", s.data(), tail(out)), rerr)
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("the PostgreSQL server in %q does not answer: %w", s.data(), err), s.close(ctx))
		case <-time.After(poll):
		}
	}
}

// A process is a running server.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// run starts a program from a thread that lives until the program ended: the kernel sends the
// parent-death signal at the end of the thread (prctl(2), PR_SET_PDEATHSIG).
func run(cmd *exec.Cmd, with []io.Closer) (*process, error) {
	p := &process{cmd, make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // its log contains the reason
			close(p.ended)
		}
		for _, c := range with {
			_ = c.Close() // the ends of a pipe without data
		}
	}()
	return p, <-started
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// shutdowns lists the ways to stop a server, each with its time limit (PostgreSQL manual, 19.5).
var shutdowns = []struct {
	signal syscall.Signal
	within time.Duration
}{{syscall.SIGINT, 10 * time.Second}, {syscall.SIGQUIT, 5 * time.Second}, {syscall.SIGKILL, 5 * time.Second}}

func (p *process) endedWithin(limit time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// shutDown stops a server. whose is what an error says of it besides its number.
func shutDown(server *os.Process, whose string, endedWithin func(time.Duration) bool) error {
	for _, how := range shutdowns {
		if err := server.Signal(how.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		if endedWithin(how.within) {
			return nil
		}
	}
	return fmt.Errorf("PostgreSQL server %d%s does not stop: %w", server.Pid, whose, domarkx.ErrConflict)
}

// endOther stops the server of a killed process of this program; it may already be stopping.
func (s *server) endOther() error {
	path := filepath.Join(s.data(), "postmaster.pid")
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(data), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 {
		return nil // PostgreSQL reports what is wrong with the file
	}
	endedWithin := func(limit time.Duration) bool {
		for end := time.Now().Add(limit); serves(pid, s.data()); time.Sleep(poll) {
			if !time.Now().Before(end) {
				return false
			}
		}
		return true
	}
	if !endedWithin(0) {
		server, err := os.FindProcess(pid)
		if err == nil {
			err = shutDown(server, " of an earlier process", endedWithin)
		}
		if err != nil {
			return err
		}
	}
	// Another process may have the same number by now, and PostgreSQL would take it for a server.
	return atomicfile.Remove(path)
}

// witness is an unlogged table in the database of the superuser. PostgreSQL empties it, as all
// unlogged tables, when it recovers from a crash.
const witness = "git_domarkx_witness"

// unloggedSQL lists the tables and sequences that a crash empties or resets.
const unloggedSQL = `SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relpersistence = 'u' AND c.relkind IN ('r', 'S') AND ` + userSchemas + ` ORDER BY 1`

// nameLost warns, once for each crash of the server, of the tables that lost their rows in it.
func (s *server) nameLost(ctx context.Context, admin *connection) error {
	there, err := admin.value(ctx, "SELECT to_regclass($1) IS NOT NULL", witness)
	if err != nil {
		return err
	}
	if there == "t" {
		if rows, err := admin.value(ctx, "SELECT count(*) FROM "+witness); err != nil || rows != "0" {
			return err
		}
		if err := s.warnLost(ctx); err != nil {
			return fmt.Errorf("list the unlogged tables after a crash: %w", err)
		}
	}
	return admin.do(ctx, "CREATE UNLOGGED TABLE IF NOT EXISTS "+witness+" (); INSERT INTO "+witness+" DEFAULT VALUES")
}

func (s *server) warnLost(ctx context.Context) error {
	c, err := s.to(ctx, superuser, databaseName)
	if err != nil {
		return err
	}
	lost, err := c.list(ctx, unloggedSQL)
	if err := errors.Join(err, c.end(ctx)); err != nil || len(lost) == 0 || s.warn == nil {
		return err
	}
	names := strings.Join(lost[:min(len(lost), maxNamed)], ", ")
	if more := len(lost) - maxNamed; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	s.warn("the PostgreSQL server crashed or was killed, and PostgreSQL empties unlogged tables and resets unlogged sequences then: " + names + "; a version from before has what they held")
	return nil
}
