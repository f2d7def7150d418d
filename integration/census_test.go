package integration_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A census maps every path below a directory to its kind and mode and, for everything but
// directories, its content and modification time.
type census map[string]string

func takeCensus(tb testing.TB, root string) census {
	tb.Helper()
	c := census{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			c[name] = info.Mode().String()
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			c[name] = info.Mode().String() + " -> " + target
		default:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			c[name] = fmt.Sprintf("%s %x %s", info.Mode(), sha256.Sum256(data), info.ModTime())
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// changes returns the sorted names of paths that differ. A new directory counts with all
// its contents.
func (c census) changes(later census) []string {
	var names []string
	for name, was := range c {
		if now, ok := later[name]; !ok || now != was {
			names = append(names, name)
		}
	}
	for name := range maps.Keys(later) {
		if _, ok := c[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// mayChange reports whether the program may change a path of the common directory.
func mayChange(name string) bool {
	if name == "objects" || name == "logs" || name == "logs/refs" {
		return true // parent directories of the paths below
	}
	// A table can hold any refs; scripts compare those that git lists.
	for _, may := range []string{"objects/", "reftable", "domarkx", "refs/domarkx", "logs/refs/domarkx"} {
		if strings.HasPrefix(name, may) {
			return name != "domarkx.lock"
		}
	}
	return false
}

// expectOnlyOurs fails the test if anything changed below root, except what the program
// may change in the common directory. The common directory must be below root.
func expectOnlyOurs(tb testing.TB, root, common string, before census) {
	tb.Helper()
	common, err := filepath.Rel(root, common)
	if err != nil {
		tb.Fatal(err)
	}
	after := takeCensus(tb, root)
	for _, name := range before.changes(after) {
		inside, err := filepath.Rel(common, name)
		if err == nil && !strings.HasPrefix(inside, "..") && mayChange(inside) {
			continue
		}
		tb.Errorf("%s was touched\n before: %s\n after:  %s", name, before[name], after[name])
	}
	state := after[filepath.Join(common, "domarkx")]
	if state != "" && state != "drwx------" {
		tb.Errorf("the state directory has mode %s, expected drwx------", state)
	}
	for name := range after {
		if strings.HasSuffix(name, ".lock") {
			tb.Errorf("the lock file %s was left", name)
		}
	}
}
