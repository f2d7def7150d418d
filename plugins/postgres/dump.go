package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
)

// dump returns the statements of the schema in a snapshot: those before the rows and those after.
// They are in UTF-8, like the rows.
//
// Versions have no privileges: even with --no-owner, the GRANT and REVOKE statements of pg_dump name the
// owner, so equal databases of different roles would give different versions, which other roles could not
// load. It writes the settings of a database only together with CREATE DATABASE and the database's name, so
// other queries read these.
func (r *resource) dump(ctx context.Context, snapshot string) ([2][]byte, error) {
	program, env, err := r.database.dumper(ctx)
	if err != nil {
		return [2][]byte{}, err
	}
	var sections [2][]byte
	var errs [2]error
	var both sync.WaitGroup
	for i, section := range []string{"pre-data", "post-data"} {
		both.Go(func() {
			// The loading role owns everything. Tablespaces belong to the server, and a version may be loaded on another one.
			cmd := exec.CommandContext(ctx, program, "--section="+section, "--snapshot="+snapshot, "--encoding=UTF8", "--no-password",
				"--no-owner", "--no-privileges", "--no-tablespaces", "--no-subscriptions", "--no-security-labels", "--no-blobs")
			cmd.Env = env
			var out, problems bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &problems
			if err := cmd.Run(); err != nil {
				errs[i] = fmt.Errorf("read the schema with pg_dump: %w: %s", err, tail(problems.Bytes()))
				return
			}
			sections[i], errs[i] = body(out.Bytes())
		})
	}
	both.Wait()
	return sections, errors.Join(errs[:]...)
}

// The text of a dump before and after its statements contains versions and random numbers.
var (
	dumpBegin = []byte("\nSET statement_timeout = 0;\n")
	dumpEnd   = []byte("\n--\n-- PostgreSQL database dump complete\n--\n")
)

// body returns the statements in a dump.
func body(dump []byte) ([]byte, error) {
	begin, end := bytes.Index(dump, dumpBegin), bytes.LastIndex(dump, dumpEnd)
	if begin < 0 || end < begin {
		return nil, fmt.Errorf("pg_dump wrote its output in an unknown form: %w", domarkx.ErrUnsupported)
	}
	return dump[begin+1 : end], nil
}

// tail returns the end of a program's output.
func tail(out []byte) string {
	const longest = 2 << 10
	return string(bytes.TrimSpace(out[max(0, len(out)-longest):]))
}
