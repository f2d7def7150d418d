package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// maxAlternates is how deep alternates may be nested, as in Git.
const maxAlternates = 5

// withAlternates returns an object directory and all alternates of it, each once: first those in the environment
// (separated as in PATH), then those in the file info/alternates of each directory (gitrepository-layout(5)). As in
// Git, missing directories are skipped.
func withAlternates(objects, environment string, by oid.Hash) ([]string, error) {
	type place struct {
		dir   string
		depth int
	}
	queue := []place{{objects, 0}}
	for _, dir := range splitList(environment) {
		queue = append(queue, place{dir, 1})
	}
	var dirs []string
	var seen []os.FileInfo
	for ; len(queue) > 0; queue = queue[1:] {
		dir, depth := queue[0].dir, queue[0].depth
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() || slices.ContainsFunc(seen, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			continue
		}
		if depth > maxAlternates {
			return nil, fmt.Errorf("alternate object directory %q: %w: more than %d deep", dir, domarkx.ErrUnsupported, maxAlternates)
		}
		if other := configuredHash(dir); depth > 0 && other != by.String() && other != "" {
			return nil, fmt.Errorf("alternate object directory %q: %w: it names its objects by %s, this repository by %s; remove it from info/alternates",
				dir, domarkx.ErrUnsupported, other, by)
		}
		seen, dirs = append(seen, info), append(dirs, dir)
		list, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read alternates: %w", err)
		}
		for line := range strings.Lines(string(list)) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" || line[0] == '#' {
				continue
			}
			path := unquoted(line)
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			queue = append(queue, place{path, depth + 1})
		}
	}
	return dirs, nil
}

// configuredHash returns Git's name of the hash function in the configuration of the repository that an object directory belongs
// to, or "" without a configuration.
func configuredHash(objects string) string {
	config, err := os.ReadFile(filepath.Join(filepath.Dir(objects), "config"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(strings.ToLower(string(config))) {
		name, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(name) == "objectformat" {
			return strings.Trim(value, " \t\r\n\"")
		}
	}
	return oid.SHA1.String()
}

// splitList splits a list of paths as Git does. The separator is that of PATH. A path may be in double quotes; a
// separator between them is part of the path.
func splitList(list string) []string {
	var paths []string
	for list != "" {
		end := strings.IndexByte(list, os.PathListSeparator)
		if quoted, err := strconv.QuotedPrefix(list); err == nil && list[0] == '"' {
			if n := len(quoted); n == len(list) || list[n] == os.PathListSeparator {
				end = n
			}
		}
		if end < 0 {
			end = len(list)
		}
		if end > 0 {
			paths = append(paths, unquoted(list[:end]))
		}
		list = list[min(end+1, len(list)):]
	}
	return paths
}

// unquoted returns the path that Git has quoted: in double quotes, with escapes of C, which Go has too. It returns other
// text unchanged.
func unquoted(s string) string {
	if strings.HasPrefix(s, `"`) {
		if path, err := strconv.Unquote(s); err == nil {
			return path
		}
	}
	return s
}
