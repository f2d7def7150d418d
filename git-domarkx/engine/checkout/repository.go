package checkout

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// repositoryPrograms returns descriptions of the parts of nested repositories by which Git would
// run programs, when the user only asks for the status there: hooks, settings other than those
// that Git itself writes (see harmless), and references to a repository elsewhere.
func (m *Manager) repositoryPrograms(ctx context.Context, resource domarkx.ResourceVersion) ([]string, error) {
	var found []string
	parts := map[string][]string{} // directory → descriptions of what would count in a repository
	bare := map[string][]string{}
	err := domarkx.WalkVersion(ctx, m.store, resource.Version, func(path string, f domarkx.File) error {
		at := engine.QuotedPath(resource.ID + "/" + path)
		if f.Type != domarkx.Directory && engine.IsGitName(f.Name) {
			found = append(found, at+" (it leads to a repository elsewhere)")
			return nil
		}
		directory, name := parent(path)
		if i := slices.IndexFunc(bareNames, func(bare string) bool { return engine.FoldName(name) == strings.ToLower(bare) }); i >= 0 {
			bare[directory] = append(bare[directory], bareNames[i])
		}
		of, why, err := m.program(ctx, path, f)
		if why != "" {
			parts[of] = append(parts[of], at+" ("+why+")")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for directory, descriptions := range parts {
		if _, name := parent(directory); engine.IsGitName(name) || isBare(bare[directory]) {
			found = append(found, descriptions...)
		}
	}
	slices.Sort(found)
	return found, nil
}

// program returns why a file would make Git run programs, "" if it would not, if it is part of the
// repository in the directory of.
func (m *Manager) program(ctx context.Context, path string, f domarkx.File) (of, why string, err error) {
	of, name := parent(path)
	switch folded := engine.FoldName(name); {
	case folded == "commondir":
		return of, "it leads to a repository elsewhere", nil
	case folded == "config" || folded == "config.worktree":
		why, err := m.setting(ctx, f)
		return of, why, err
	case folded == "hooks" && f.Type != domarkx.Directory:
		return of, "it leads to hooks elsewhere", nil
	case f.Type == domarkx.Directory || strings.HasSuffix(folded, ".sample"):
		return "", "", nil
	}
	if of, name = parent(of); engine.FoldName(name) == "hooks" {
		return of, "it is a hook", nil
	}
	return "", "", nil
}

// maxConfig is the size in bytes of the largest config file that is read.
const maxConfig = 64 << 10

// setting returns why a config file could make Git run programs, "" if it could not.
func (m *Manager) setting(ctx context.Context, f domarkx.File) (string, error) {
	if f.Type != domarkx.Regular {
		return "it is a " + f.Type.String(), nil
	}
	c, err := m.store.Content(ctx, f.ID)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if c.Size() > maxConfig {
		return "it is unusually large", nil
	}
	data, err := io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
	if err != nil {
		return "", err
	}
	if setting := oddSetting(string(data)); setting != "" {
		return fmt.Sprintf("it sets %q", setting), nil
	}
	return "", nil
}

// harmless lists the settings, by section, that Git itself writes to the config of a repository and
// that make it run nothing. Those of a section with a dot are the ones of its subsections.
var harmless = map[string][]string{
	"core":       {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks", "autocrlf", "eol"},
	"extensions": {"objectformat", "refstorage"},
	"init":       {"defaultbranch"},
	"pull":       {"rebase", "ff"},
	"push":       {"default"},
	"user":       {"name", "email"},
	"branch.":    {"remote", "merge", "rebase", "description"},
	"remote.":    {"url", "pushurl", "fetch", "tagopt"},
}

// oddSetting returns a setting of a config file that is not in harmless, "" if there is none. It
// understands only what Git itself writes, and returns the beginning of anything else.
func oddSetting(config string) string {
	section := "" // with a dot, if it is a subsection
	for line := range strings.Lines(config) {
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] != '[' {
			key, _, _ := strings.Cut(line, "=")
			key = strings.TrimRight(key, " \t")
			if !slices.Contains(harmless[section], strings.ToLower(key)) || strings.HasSuffix(line, `\`) {
				return strings.TrimSuffix(section, ".") + "." + key
			}
			continue
		}
		name, rest, _ := strings.Cut(line[1:], "]")
		name, sub, quoted := strings.Cut(name, ` "`)
		section = strings.ToLower(name)
		if quoted {
			section += "."
			sub, quoted = strings.CutSuffix(sub, `"`)
		}
		if rest != "" || strings.ContainsAny(sub, `"\`) || quoted != strings.HasSuffix(section, ".") || harmless[section] == nil {
			return "[" + name
		}
	}
	return ""
}

// parent splits a path into its directory and its name.
func parent(path string) (directory, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}
