package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// The files in a work tree that gitleaks reads: additional rules, and findings to ignore.
const (
	rulesFile  = ".gitleaks.toml"
	ignoreFile = ".gitleaksignore"
)

// An ignored holds the findings that a repository ignores: "path:rule:line" or a fingerprint.
type ignored map[string]bool

func (i ignored) has(f Finding) bool {
	_, name, _ := strings.Cut(f.Where, "/") // paths without the resource
	at := ":" + f.Rule + ":" + strconv.Itoa(f.Line)
	return i[f.Fingerprint] || f.Workspace && (i[f.Where+at] || i[name+at])
}

// repositoryRules reads the rules in the work tree. Rules can come from anybody, so they can only
// add findings: allowlists apply only if the user's own configuration allows it. Invalid rules are
// omitted with a warning, because they must not prevent a scan.
func (m *Manager) repositoryRules(ctx context.Context) (*secrets.Rules, ignored, error) {
	if m.env.WorkTree == "" {
		return nil, nil, nil
	}
	config, err := m.store.Git().Config(ctx)
	if err != nil {
		return nil, nil, err
	}
	allow, err := config.Bool("domarkx.scan.repositoryRules", false)
	if err != nil {
		return nil, nil, err
	}
	var rules *secrets.Rules
	data, err := readSmall(filepath.Join(m.env.WorkTree, rulesFile), secrets.MaxRules)
	if err == nil && data != nil {
		rules, err = secrets.ParseRules(data, allow)
	}
	if err != nil {
		m.warn(fmt.Errorf("warning: %s is left out: %w", rulesFile, err))
	}
	if !allow {
		return rules, nil, nil
	}
	const maxIgnore = 1 << 20
	data, err = readSmall(filepath.Join(m.env.WorkTree, ignoreFile), maxIgnore)
	if err != nil {
		m.warn(fmt.Errorf("warning: %s is left out: %w", ignoreFile, err))
	}
	list := ignored{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			list[line] = true
			if commit, rest, ok := strings.Cut(line, ":"); ok && len(commit) == 40 {
				list[rest] = true
			}
		}
	}
	return rules, list, nil
}

// readSmall reads a regular file of at most size bytes. It returns nil if there is none.
func readSmall(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > most:
		return nil, fmt.Errorf("it is larger than %d bytes", most)
	}
	return os.ReadFile(path)
}
