package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"golang.org/x/sync/errgroup"
)

// dump returns the statements of the schema in a snapshot: those before the rows and those after.
// They are in UTF-8, like the rows.
//
// Versions have no privileges: even with --no-owner, the GRANT and REVOKE statements of pg_dump name the owner, so equal
// databases of different roles would give different versions, which other roles could not load. It writes the settings of a
// database only together with CREATE DATABASE and the database's name, so other queries read these.
func (r *resource) dump(ctx context.Context, snapshot string) ([2][]byte, error) {
	directory, env, err := r.database.dumper(ctx)
	if err != nil {
		return [2][]byte{}, err
	}
	run := func(ctx context.Context, in []byte, program string, args ...string) ([]byte, error) {
		// The loading role owns everything. Tablespaces belong to the server, and a version may be loaded on another one.
		cmd := exec.CommandContext(ctx, filepath.Join(directory, program), append(args, "--no-owner", "--no-privileges", "--no-tablespaces")...)
		cmd.Env, cmd.Stdin = env, bytes.NewReader(in)
		var out, problems bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &problems
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("read the schema with %s: %w: %s", program, err, tail(problems.Bytes()))
		}
		return out.Bytes(), nil
	}
	// The server answers pg_dump once, and pg_restore, which needs no server, writes each section of that.
	archive, err := run(ctx, nil, "pg_dump", "--format=custom", "--section=pre-data", "--section=post-data", "--snapshot="+snapshot, "--encoding=UTF8",
		"--no-password", "--no-subscriptions", "--no-security-labels", "--no-blobs")
	if err != nil {
		return [2][]byte{}, err
	}
	var sections [2][]byte
	both, ctx := errgroup.WithContext(ctx)
	for i, section := range []string{"pre-data", "post-data"} {
		both.Go(func() error {
			out, err := run(ctx, archive, "pg_restore", "--file=-", "--section="+section)
			if err == nil {
				sections[i], err = body(out)
			}
			return err
		})
	}
	return sections, both.Wait()
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

// places are the directories of PostgreSQL's programs in distributions that do not put them on PATH.
var places = []string{
	"/usr/lib/postgresql/*/bin", // Debian and Ubuntu
	"/usr/pgsql-*/bin",          // PostgreSQL's own packages for Red Hat
	"/usr/lib/postgresql*/bin",  // openSUSE
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
}

var errMissing = errors.New("PostgreSQL is not installed")

// programs returns the directory that contains all of PostgreSQL's programs in names: of one major
// version, or of the newest for "".
func programs(places []string, major string, names ...string) (string, error) {
	var directories []string
	for _, place := range places {
		found, err := filepath.Glob(place)
		if err != nil {
			return "", err
		}
		directories = append(directories, found...)
	}
	slices.SortStableFunc(directories, func(a, b string) int { return cmp.Compare(number(b), number(a)) })
	if path, err := exec.LookPath(names[0]); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			directories = append(directories, filepath.Dir(path))
		}
	}
	for _, directory := range directories {
		missing := slices.ContainsFunc(names, func(name string) bool {
			_, err := exec.LookPath(filepath.Join(directory, name))
			return err != nil
		})
		if !missing && (major == "" || version(directory) == major) {
			return directory, nil
		}
	}
	wanted := "postgresql"
	if major != "" {
		wanted += "-" + major
	}
	return "", fmt.Errorf("%w: no %s in %s or on PATH; install the package %s (on Debian and Ubuntu: apt-get install %s)",
		errMissing, strings.Join(names, ", "), places[0], wanted, wanted)
}

// number returns the major version in a directory's name, 0 for none.
func number(directory string) int {
	digits := strings.TrimFunc(filepath.Dir(directory), func(r rune) bool { return r < '0' || r > '9' })
	digits = digits[strings.LastIndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })+1:]
	n, _ := strconv.Atoi(digits)
	return n
}

// version returns the major version of the programs in a directory, as in the file PG_VERSION.
func version(directory string) string {
	out, err := exec.Command(filepath.Join(directory, "postgres"), "--version").Output()
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(out)) // postgres (PostgreSQL) 15.8 (Debian …)
	if len(fields) < 3 {
		return ""
	}
	major, _, _ := strings.Cut(fields[2], ".")
	return major
}

// environment returns the environment of PostgreSQL's programs, without variables that configure them.
func environment() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	if runtime.GOOS == "windows" {
		env = append(env, "SystemRoot="+os.Getenv("SystemRoot"))
	}
	return env
}
