package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

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
